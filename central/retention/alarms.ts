import { batchSize, type Removal, removeAll } from './removal.ts';

/** Alarms that an operator acknowledged before this time; open ones stay. */
export function acknowledgedAlarms(before: string): Removal {
  return removeAll((queries) =>
    queries
      .deleteFrom('alarms')
      .where('alarm_id', 'in', (query) =>
        query
          .selectFrom('alarms')
          .select('alarm_id')
          .where('acknowledged_at', '<', before)
          .orderBy('acknowledged_at')
          .limit(batchSize),
      )
      .executeTakeFirstOrThrow(),
  );
}
