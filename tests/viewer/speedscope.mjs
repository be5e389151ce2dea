// SPDX-License-Identifier: Apache-2.0
// speedscope.mjs PROGRAM FORMAT RUN: what speedscope makes of the exports chrome and folded. It
// opens any text as a flame graph of something, so its importer is asserted, and the totals of each
// frame.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { folderOf, launch, serve } from './browser.mjs';

const [program, format, run] = process.argv.slice(2);

const importers = {
    chrome: 'Importing as Trace Event Format profile',
    folded: 'Importing as collapsed stack format',
};

const lanes = [['train (pid 4242), main (tid 4242)', '60.01ms'],
    ['train (pid 4242), io;\\xff (tid 4243)', '1.00ns'],
    ['train (pid 4242), main: intervals (tid 4194306)', '60.00ms'],
    ['train (pid 4242), stream 7 (tid 4194307)', '5.00ms'],
    ['train (pid 4242), stream 7 (2) (tid 4194308)', '7.00ms']];

// Frame: [total, self]; of the first lane.
const hostile = {
    'quote" back\\slash': 1, 'two\nlines\r\n\ttab': 2, 'semi;colon, comma': 3,
    '=cmd|\'/C calc\'!A0': 4, '</script><!--': 5, 'bell\x07 \x1b[31m\x7f': 6,
    '\u{1f600} 中文 \u2028': 7,
    'bad \\xff \\xc0\\xaf \\xed\\xa0\\x80 \\xe4\\xb8': 8,
};
const spans = {
    step: ['60.00ms', '10.00ms'], 'step.load': ['10.00ms', '10.00ms'],
    'step.forward': ['40.00ms', '40.00ms'],
    ...Object.fromEntries(Object.keys(hostile).map((name) => [name, ['999.00ns', '999.00ns']])),
};
const flat = (name) => name.replace(/[;\x00-\x1f\x7f\u2028]/g, (c) =>
    [...Buffer.from(c)].map((byte) => '\\x' + byte.toString(16).padStart(2, '0')).join(''));
const folded = {
    step: ['510,000,000', '435,000,000'], 'step.load': ['30,000,000', '30,000,000'],
    'step.forward': ['45,000,000', '45,000,000'], work: ['900,000,000', '480,000,000'],
    ...Object.fromEntries(Object.entries(hostile).map(([name, ms]) =>
        [flat(name), [`${ms},000,000`, `${ms},000,000`]])),
};

// The frames are those of the first lane; only the length of a GPU's lane shows what it holds.
const gpu = {
    lanes: [['train (pid 4242), main (tid 4242)', '30.00ms'],
        ['train (pid 4242), GPU 0 stream 7 (tid 4194305)', '21.00ms'],
        ['train (pid 4242), GPU 0 stream 13 (tid 4194306)', '2.00ms']],
    frames: {
        step: ['30.00ms', '0.00ns'], 'step.load': ['10.00ms', '10.00ms'],
        'step.forward': ['20.00ms', '20.00ms'],
    },
};

const expected = {
    'chrome full': { lanes, frames: spans },
    'folded tree': { lanes: [], frames: folded },
    'chrome gpu': gpu,
}[`${format} ${run}`];

const problems = [];
function same(what, have, want) {
    if (JSON.stringify(have) !== JSON.stringify(want)) {
        problems.push(`${what}: ${JSON.stringify(have)}, expected ${JSON.stringify(want)}`);
    }
}

// Reads tables of the sandwich view: rows of three cells; of lanes the first is a number.
async function tables(page) {
    const rows = await page.evaluate(() => [...document.querySelectorAll('tr')]
        .map((row) => [...row.children].map((cell) => cell.textContent)));
    const data = rows.filter((row) => row.length === 3 && row[1] !== 'Name' &&
        row[2] !== 'Symbol Name');
    const value = (text) => text.replace(/ \(.*/, '');
    return {
        lanes: data.filter((row) => /^\d+$/.test(row[0])).map((row) => row.slice(1)),
        frames: Object.fromEntries(data.filter((row) => !/^\d+$/.test(row[0]))
            .map((row) => [row[2], [value(row[0]), value(row[1])]])),
    };
}

// Not *.chrome.json: by that name it would be taken for a profile of Chrome's developer tools.
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'stint-viewer-'));
const file = path.join(folder, `${run}.${format === 'folded' ? 'folded' : 'json'}`);
const packages = folderOf('speedscope');
fs.writeFileSync(file, execFileSync(program, [format, run]));
const browser = await launch();
try {
    const page = await browser.newPage();
    const log = [];
    page.on('console', (message) => log.push(message.text()));
    page.on('pageerror', (error) => problems.push(`page: ${error.message}`));
    const name = path.basename(file);
    const base = await serve(path.join(packages, 'node_modules/speedscope/dist/release'),
        { [name]: file });
    await page.goto(`${base}/#profileURL=${encodeURIComponent(`${base}/file/${name}`)}`);
    await page.waitForFunction(() => document.title !== 'speedscope', null, { timeout: 300000 })
        .catch(() => problems.push('it opened nothing'));
    await page.keyboard.press('3');
    // The table's head is there before its rows.
    const wanted = Object.keys(expected.frames).length;
    let shown = await tables(page);
    for (let i = 0; i < 100 && Object.keys(shown.frames).length !== wanted; ++i) {
        await page.waitForTimeout(100);
        shown = await tables(page);
    }
    same('importer', log.filter((line) => line.startsWith('Importing as')), [importers[format]]);
    same('lanes', shown.lanes, expected.lanes);
    const sorted = (frames) => Object.entries(frames).sort(([a], [b]) => (a < b ? -1 : 1));
    same('frames', sorted(shown.frames), sorted(expected.frames));
    if (problems.length) {
        problems.push(`console: ${log.join('\n')}`);
    }
} finally {
    await browser.close();
    fs.rmSync(folder, { recursive: true });
}
console.log(problems.join('\n') || `${format} ${run}: importer, lanes and totals are right`);
process.exit(problems.length ? 1 : 0);
