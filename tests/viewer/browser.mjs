// SPDX-License-Identifier: Apache-2.0
// Functions that the tests in a browser share: the packages, a browser, a page, a server of files.
// A test ends with 77, which CTest counts as skipped, if one of them is missing.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import { createRequire } from 'node:module';
import path from 'node:path';

export function skip(why) {
    console.log(`skipped: ${why}`);
    process.exit(77);
}

// The folder that holds node_modules/NAME.
export function folderOf(name) {
    const folders = [process.env.VIEWER_PACKAGES,
        ...(process.env.VIEWER_FOLDERS ?? '').split(':')].filter(Boolean);
    return folders.find((folder) => fs.existsSync(path.join(folder, 'node_modules', name))) ??
        skip(`no npm package ${name}; see tests/viewer/packages.sh`);
}

export function browserPath() {
    const names = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'];
    for (const name of names) {
        try {
            return execFileSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).trim();
        } catch {
            // the next one
        }
    }
    return skip('no Chromium');
}

export async function launch() {
    const require = createRequire(path.join(folderOf('playwright-core'), 'here.js'));
    const { chromium } = require('playwright-core');
    // The browser runs without a GPU; as root in a container there is no sandbox.
    return chromium.launch({
        executablePath: browserPath(),
        args: ['--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader'],
    });
}

const types = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css',
    '.svg': 'image/svg+xml', '.png': 'image/png' };

// Serves `root`, and `files` (name -> path) below /file/. Returns the server's address.
export async function serve(root, files) {
    const server = http.createServer((request, reply) => {
        const name = new URL(request.url, 'http://x').pathname;
        const file = name.startsWith('/file/') ? files[name.slice(6)]
            : path.join(root, name === '/' ? 'index.html' : path.normalize(name));
        try {
            const bytes = fs.readFileSync(file);
            reply.writeHead(200, { 'content-type': types[path.extname(file)] ?? 'text/plain' });
            reply.end(bytes);
        } catch {
            reply.writeHead(404).end();
        }
    });
    await new Promise((done) => server.listen(0, '127.0.0.1', done));
    server.unref();
    return `http://127.0.0.1:${server.address().port}`;
}
