import type { ConsoleRecording } from '#contract/consoleRecording.ts';
import { RailheadError } from '#contract/errors.ts';
import { newId } from '#contract/ids.ts';
import { parseJson, type Queries } from '../store/store.ts';
import type { Row } from '../store/tables.ts';

/** The recording of a node's console that is wanted now. */
export function recordingOf({ recording }: Pick<Row<'nodes'>, 'recording'>): ConsoleRecording | undefined {
  const wanted = parseJson<ConsoleRecording>(recording);
  return wanted !== undefined && Date.parse(wanted.until) > Date.now() ? wanted : undefined;
}

/** Wants a node's console recorded for so long from now on, in milliseconds. One that is recorded already goes on until then. */
export async function wantRecording(
  store: Queries,
  node: Row<'nodes'>,
  forMs: number,
): Promise<ConsoleRecording> {
  const recordingId = recordingOf(node)?.recordingId ?? newId('rec');
  const recording = { recordingId, until: new Date(Date.now() + forMs).toISOString() };
  await setRecording(store, node.node_id, recording);
  return recording;
}

/** @throws RailheadError INVALID_STATE when none is wanted */
export async function endRecording(store: Queries, node: Row<'nodes'>): Promise<ConsoleRecording> {
  const recording = recordingOf(node);
  if (recording === undefined)
    throw new RailheadError('INVALID_STATE', `the console of ${node.node_id} is not recorded`, {
      reason: 'not-recorded',
    });
  await setRecording(store, node.node_id, undefined);
  return recording;
}

/** What the site says has ended is wanted no more. */
export async function noteEnded(
  store: Queries,
  nodeId: string,
  recordingId: string | undefined,
): Promise<void> {
  const node = await store
    .selectFrom('nodes')
    .select('recording')
    .where('node_id', '=', nodeId)
    .executeTakeFirst();
  if (node !== undefined && recordingId !== undefined && recordingOf(node)?.recordingId === recordingId)
    await setRecording(store, nodeId, undefined);
}

async function setRecording(
  store: Queries,
  nodeId: string,
  recording: ConsoleRecording | undefined,
): Promise<void> {
  await store
    .updateTable('nodes')
    .set({ recording: recording === undefined ? null : JSON.stringify(recording) })
    .where('node_id', '=', nodeId)
    .execute();
}
