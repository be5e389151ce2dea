// SPDX-License-Identifier: Apache-2.0
// drive.mjs PAGES CASE: runs a case of cases.mjs on a fresh browser. Whatever a
// case looks at, a page that asks for anything, or writes an error to the console, has failed.
import {mkdtempSync, rmSync} from "node:fs";
import {createRequire} from "node:module";
import {tmpdir} from "node:os";
import {join, resolve} from "node:path";
import {pathToFileURL} from "node:url";
import {browserPath, folderOf} from "../browser.mjs";
import {cases} from "./cases.mjs";

const [pages, name] = process.argv.slice(2);
const playwright = createRequire(resolve(folderOf("playwright-core")) + "/")("playwright-core");
const FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
               "--disable-background-networking", "--disable-component-update", "--disable-sync"];

class Browser {
    constructor(context) {
        this.context = context;
        this.faults = [];
        this.expected = [/willReadFrequently/]; // what a case itself provokes
    }

    async open(kind) {
        const page = await this.context.newPage();
        const url = pathToFileURL(join(resolve(pages), kind + ".html")).href;
        page.setDefaultTimeout(20000);
        page.on("console", (message) => {
            if (["error", "warning"].includes(message.type())) {
                this.fault("console: " + message.text());
            }
        });
        page.on("pageerror", (error) => this.fault("error: " + error.stack));
        page.on("request", (request) => {
            if (request.url() !== url) {
                this.fault("request: " + request.url());
            }
        });
        page.on("dialog", (dialog) => {
            this.fault("dialog: " + dialog.message());
            dialog.dismiss();
        });
        await page.goto(url);
        return page;
    }

    fault(what) {
        if (!this.expected.some((expected) => expected.test(what))) {
            this.faults.push(what);
        }
    }
}

const options = (cases[name] || {}).options || {};
const profile = mkdtempSync(join(tmpdir(), "stint-viewer-"));
const context = await playwright.chromium.launchPersistentContext(profile, {
    executablePath: browserPath(), args: FLAGS, viewport: {width: 1300, height: 900},
    colorScheme: "light", ...options,
});
let failed = 0;
try {
    const browser = new Browser(context);
    await cases[name].run(browser);
    await new Promise((done) => setTimeout(done, 100)); // a late request would be one too
    for (const fault of browser.faults) {
        console.log("failed: " + fault);
        failed = 1;
    }
} catch (error) {
    console.log("failed: " + (error.stack || error));
    failed = 1;
} finally {
    await context.close();
    rmSync(profile, {recursive: true, force: true});
}
process.exitCode = failed;
