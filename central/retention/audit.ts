import { firstId } from '#contract/ids.ts';
import { batchSize, type Removal, removeAll } from './removal.ts';

/** Records of calls that began before this time, which their ids tell. */
export function auditRecordsBefore(before: string): Removal {
  const bound = firstId('ev', Date.parse(before));
  return removeAll((queries) =>
    queries
      .deleteFrom('audit')
      .where('audit_id', 'in', (query) =>
        query
          .selectFrom('audit')
          .select('audit_id')
          .where('audit_id', '<', bound)
          .orderBy('audit_id')
          .limit(batchSize),
      )
      .executeTakeFirstOrThrow(),
  );
}
