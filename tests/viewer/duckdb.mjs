// SPDX-License-Identifier: Apache-2.0
// duckdb.mjs TOOL PROGRAM: runs the queries of docs/sql.md in DuckDB, on the exports of three runs
// of PROGRAM (tool_program) as ranks 0 to 2, and compares their answers with the JSON files.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { folderOf } from './browser.mjs';

const [tool, program] = process.argv.slice(2);
const RANKS = 3;
const here = path.dirname(new URL(import.meta.url).pathname);
const page = fs.readFileSync(path.join(here, '../../docs/sql.md'), 'utf8');

const packages = folderOf('@duckdb/node-api');
const { DuckDBInstance } = createRequire(path.join(packages, 'x.js'))('@duckdb/node-api');

let failed = 0;
function need(holds, what) {
    if (!holds) {
        console.log(`wrong: ${what}`);
        failed = 1;
    }
}

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'stint-duckdb-'));
fs.mkdirSync(path.join(folder, 'runs'));
const documents = [];
for (let rank = 0; rank < RANKS; ++rank) {
    const base = path.join(folder, 'runs', String(rank));
    const env = { ...process.env, STINT_FILE: `${base}.stint`, STINT_REPORT: 'none' };
    execFileSync(program, ['work'], { env: { ...env, OMPI_COMM_WORLD_RANK: String(rank) } });
    for (const format of ['json', 'csv']) {
        execFileSync(tool, ['export', `${base}.stint`, '--to', format, '-o', `${base}.${format}`]);
    }
    documents.push(JSON.parse(fs.readFileSync(`${base}.json`, 'utf8')));
}
process.chdir(folder);
// The same runs as one, by the tool.
execFileSync(tool, ['merge', 'runs', '-o', 'all.stint']);
execFileSync(tool, ['export', 'all.stint', '--to', 'json', '-o', 'all.json']);
const whole = JSON.parse(fs.readFileSync('all.json', 'utf8')).stats.filter((row) => row.calls);

const rows = documents.flatMap((document) => document.stats);
const timed = {};
const calls = {};
for (const row of rows) {
    calls[row.name] = (calls[row.name] ?? 0) + row.calls;
    for (const [, , count] of row.histogram ?? []) {
        timed[row.name] = (timed[row.name] ?? 0) + count;
    }
}
need(rows.every((row, i) => row.host && row.pid), 'a row without host or pid');
need([0, 1, 2].every((rank) => rows.some((row) => row.rank === rank)), 'a rank is missing');

// Returns a percentile from the histograms' counts, added over the runs.
function percentile(name, share) {
    const merged = new Map();
    for (const row of rows.filter((one) => one.name === name)) {
        for (const [low, high, count] of row.histogram ?? []) {
            merged.set(low, { high, count: (merged.get(low)?.count ?? 0) + count });
        }
    }
    let seen = 0;
    for (const low of [...merged.keys()].sort((a, b) => a - b)) {
        seen += merged.get(low).count;
        if (seen >= timed[name] * share) {
            return (low + merged.get(low).high - 1) / 2;
        }
    }
    return undefined;
}

const checks = [
    null, null,
    (answer) => {
        const sums = {};
        for (const row of answer) {
            sums[row.name] = (sums[row.name] ?? 0) + Number(row.calls);
        }
        need(JSON.stringify(Object.entries(sums).sort()) ===
            JSON.stringify(Object.entries(calls).sort()), 'calls');
        need(answer.every((row) => Number(row.runs) === RANKS), 'a scope of fewer runs');
    },
    (answer) => {
        need(answer.length === Object.keys(timed).length, 'scopes with percentiles');
        for (const row of answer) {
            need(Number(row.timed) === timed[row.name], `timed calls of ${row.name}`);
            need(row.p50_ns === percentile(row.name, 0.5), `p50 of ${row.name}`);
            need(row.p99_ns === percentile(row.name, 0.99), `p99 of ${row.name}`);
        }
    },
    (answer) => need(answer.length === Object.keys(timed).length * RANKS, 'rows of ranks'),
    (answer) => need(answer.every((row) => row.times_the_mean >= 1), 'less than the mean'),
    (answer) => {
        need(answer.length === whole.length, `${answer.length} scopes, not ${whole.length}`);
        for (const row of answer) {
            const merged = whole.find((one) => one.name === row.name && one.set === row.set);
            const totals = rows.filter((one) => one.name === row.name && one.set === row.set &&
                one.calls).map((one) => one.total_ns).sort((a, b) => a - b);
            need(Number(row.calls) === merged?.calls, `calls of ${row.name}`);
            // Each run is rounded by itself.
            need(Math.abs(Number(row.total_ns) - merged?.total_ns) <= RANKS, `total of ${row.name}`);
            need(Number(row.ranks) === totals.length && Number(row.min_ns) === totals[0] &&
                Number(row.max_ns) === totals.at(-1), `limits of ${row.name}`);
            need(Number(row.median_ns) === totals[(totals.length - 1) >> 1], `median of ${row.name}`);
            need(Number(row.lost_ns) === totals.reduce((sum, one) => sum + totals.at(-1) - one, 0),
                `lost time of ${row.name}`);
        }
    },
    (answer) => need(answer.every((row) => Number(row.slow ?? 0) <= Number(row.timed)), 'slow calls'),
    (answer) => need(answer.reduce((sum, row) => sum + Number(row.n), 0) === timed.step, 'bars'),
    (answer) => need(answer.length === documents.flatMap((one) => one.lost).length, 'losses'),
    (answer) => need(JSON.stringify(answer.map((row) => [row.name, Number(row.timed)])) ===
        JSON.stringify(Object.entries(timed).sort(([a], [b]) => (a < b ? -1 : 1))), 'csv'),
];

const connection = await (await DuckDBInstance.create(':memory:')).connect();
const queries = [...page.matchAll(/```sql\n([^`]*)```/g)].map((match) => match[1]);
need(queries.length === checks.length, `${queries.length} queries, ${checks.length} checks`);
for (const [i, query] of queries.entries()) {
    try {
        const reader = await connection.runAndReadAll(query);
        checks[i]?.(reader.getRowObjects());
    } catch (error) {
        need(false, `${query}${error}`);
    }
}
fs.rmSync(folder, { recursive: true });
process.exit(failed);
