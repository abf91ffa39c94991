import { now, type Queries } from './store/store.ts';
import type { AlarmReason } from './store/tables/machines.ts';
import type { Row } from './store/tables.ts';

/** Something at a site, or of a node, that an operator must look at. */
export interface NewAlarm {
  /** Its own: a second delivery raises it no second time. */
  alarmId: string;
  at: string;
  siteId: string;
  nodeId?: string | undefined;
  mac?: string | undefined;
  reason: AlarmReason;
  text: string;
}

/** Records that get more alarms than this show the newest ones. */
const mostShown = 20;

export async function raiseAlarm(store: Queries, alarm: NewAlarm): Promise<void> {
  const { alarmId, at, siteId, reason, text } = alarm;
  await store
    .insertInto('alarms')
    .values({
      alarm_id: alarmId,
      at,
      site_id: siteId,
      node_id: alarm.nodeId ?? null,
      mac: alarm.mac ?? null,
      reason,
      text,
      acknowledged_at: null,
      acknowledged_by: null,
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** What an alarm is about: a node's record shows its own, a site's record those of all its machines. */
export type AlarmPlace = { nodeId: string } | { siteId: string };

/** The alarms that nobody has acknowledged, newest first, as records show them. */
export async function openAlarms(store: Queries, place: AlarmPlace) {
  const rows = await store
    .selectFrom('alarms')
    .selectAll()
    .where(...about(place))
    .where('acknowledged_at', 'is', null)
    .orderBy('at', 'desc')
    .limit(mostShown)
    .execute();
  return rows.map(presentAlarm);
}

/** Takes the open alarms, or those of one reason, off the record; they stay in the events. Returns how many there were. */
export async function acknowledgeAlarms(
  store: Queries,
  place: AlarmPlace,
  by: string,
  reason?: AlarmReason,
): Promise<number> {
  let update = store
    .updateTable('alarms')
    .set({ acknowledged_at: now(), acknowledged_by: by })
    .where(...about(place))
    .where('acknowledged_at', 'is', null);
  if (reason !== undefined) update = update.where('reason', '=', reason);
  const rows = await update.returning('alarm_id').execute();
  return rows.length;
}

function about(place: AlarmPlace): ['node_id' | 'site_id', '=', string] {
  return 'nodeId' in place ? ['node_id', '=', place.nodeId] : ['site_id', '=', place.siteId];
}

function presentAlarm(row: Row<'alarms'>) {
  const { alarm_id: alarmId, at, site_id: siteId, reason, text } = row;
  return {
    alarmId,
    at,
    siteId,
    reason,
    text,
    ...(row.node_id === null ? {} : { nodeId: row.node_id }),
    ...(row.mac === null ? {} : { mac: row.mac }),
  };
}
