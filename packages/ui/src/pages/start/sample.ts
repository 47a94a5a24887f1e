// The sample: a day of a house, its dashboard, and a task that watches it. All of it can be removed
// again.
import { Conflict, NotFound } from '@tidemark/core';

import { engine, tsdb } from '../../api/clients.ts';
import { sampleDashboard } from '../../dashboards/ready/sample.ts';
import { sampleLines } from './sample-lines.ts';

export const SAMPLE_DATABASE = 'sample';
export const SAMPLE_TASK = 'sample-warm-rooms';
export const SAMPLE_DASHBOARD = 'sample';

const SCRIPT = `// Part of the sample: says when a room gets warm.
var limit = 24.0

stream
    |from()
        .measurement('room')
        .groupBy('name')
    |alert()
        .id('{{ index .Tags "name" }}')
        .message('{{ .ID }} has {{ index .Fields "celsius" }} degrees')
        .warn(lambda: "celsius" > limit)
        .stateChangesOnly()
        .topic('sample')
`;

export async function loadSample(hasEngine: boolean, nowMs: number): Promise<void> {
  await tsdb.rows(`CREATE DATABASE ${SAMPLE_DATABASE}`);
  await tsdb.write(SAMPLE_DATABASE, sampleLines(nowMs), { precision: 'ms', notify: false });
  await addDashboard();
  if (!hasEngine) return;
  await engine.createTask({
    id: SAMPLE_TASK,
    type: 'stream',
    dbrps: [{ db: SAMPLE_DATABASE, rp: 'autogen' }],
    script: SCRIPT,
    status: 'enabled',
  });
}

async function addDashboard(): Promise<void> {
  const content = sampleDashboard(SAMPLE_DATABASE);
  const change = { replaces: 0, title: content.title, content };
  await tsdb.documents.put('dashboards', SAMPLE_DASHBOARD, change).catch((error: unknown) => {
    // Left from a sample whose database was dropped: it works for this one too.
    if (!(error instanceof Conflict)) throw error;
  });
}

async function removeDashboard(): Promise<void> {
  try {
    const { version } = await tsdb.documents.get('dashboards', SAMPLE_DASHBOARD);
    await tsdb.documents.remove('dashboards', SAMPLE_DASHBOARD, version);
  } catch (error) {
    // Already deleted.
    if (!(error instanceof NotFound)) throw error;
  }
}

export async function removeSample(hasEngine: boolean): Promise<void> {
  await removeDashboard();
  if (hasEngine) {
    await engine.deleteTask(SAMPLE_TASK).catch((error: unknown) => {
      // Already deleted.
      if (!(error instanceof NotFound)) throw error;
    });
  }
  await tsdb.rows(`DROP DATABASE ${SAMPLE_DATABASE}`);
}
