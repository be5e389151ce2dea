// SPDX-License-Identifier: Apache-2.0
// The cases of the page. A case gets a Browser of drive.mjs and throws if the page fails.
import * as page from "./page.mjs";
import * as ranks from "./ranks.mjs";
import * as views from "./views.mjs";

const PHONE = {viewport: {width: 360, height: 740}, hasTouch: true, isMobile: true};
const DARK = {colorScheme: "dark"};

export const cases = {
    opens: {run: page.opens},
    policy: {run: page.policy},
    sort: {run: views.sort},
    filter: {run: views.filter},
    select: {run: views.select},
    distribution: {run: views.distribution},
    interval: {run: views.interval},
    flame: {run: views.flame},
    sent: {run: views.sent},
    search: {run: views.search},
    timeline: {run: views.timeline},
    memory: {run: views.memory},
    pointer: {run: views.pointer},
    links: {run: views.links},
    threads: {run: views.threads},
    wide: {run: views.wide, options: {viewport: {width: 1280, height: 800}}},
    ranks: {run: ranks.tables},
    heat: {run: ranks.heat},
    heat_keys: {run: ranks.keys},
    heat_theme: {run: ranks.themes, options: DARK},
    many_ranks: {run: ranks.many},
    no_ranks: {run: ranks.none},
    address: {run: views.address},
    colours: {run: page.colours},
    theme: {run: page.themes, options: DARK},
    contrast: {run: page.contrast},
    phone: {run: page.phone, options: PHONE},
    print: {run: page.print, options: DARK},
    keys: {run: page.keys},
    hostile: {run: page.hostile},
    big: {run: (browser) => page.opensLarge(browser, "big")},
    real: {run: page.real},
    empty: {run: page.empty},
    broken: {run: page.broken},
    killed: {run: page.killed},
};
