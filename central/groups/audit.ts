import Type from 'typebox';
import { TenantId } from '#contract/images.ts';
import { decodeCursor, pageFields, pageOf } from '../api/cursor.ts';
import { fleet, tenantScopes } from '../api/grants.ts';
import { type Group, method } from '../api/method.ts';
import { auditRecords, presentRecord } from '../audit.ts';

const Time = Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}(T\\d{2}:\\d{2}:\\d{2}(\\.\\d{1,3})?Z)?$' });
const AuditList = Type.Object(
  {
    /** Left out: every tenant's, and what belongs to none. */
    tenantId: Type.Optional(TenantId),
    actor: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
    since: Type.Optional(Time),
    until: Type.Optional(Time),
    ...pageFields,
  },
  { additionalProperties: false },
);

/** What was changed, by whom, and how that ended. */
export const audit: Group = {
  list: method({
    kind: 'read',
    action: 'compute:audit:read',
    input: AuditList,
    scopes: ({ tenantId }) => (tenantId === undefined ? [fleet] : tenantScopes(tenantId)),
    run: async ({ store }, { limit, cursor, ...query }) => {
      const after = cursor === undefined ? undefined : decodeCursor(cursor, 'string')[0];
      const rows = await auditRecords(store, { ...query, after, limit: limit + 1 });
      return pageOf(rows, limit, (row) => [row.audit_id], presentRecord);
    },
  }),
};
