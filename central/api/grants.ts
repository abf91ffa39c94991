import Type, { type Static } from 'typebox';
import { Value } from 'typebox/value';
import { RailheadError } from '#contract/errors.ts';

const ScopeKind = Type.Enum([
  'compute-fleet',
  'compute-tenant',
  'compute-image',
  'compute-node',
  'compute-workflow',
]);

/** That a token may do `action` on one thing, or on every thing of a kind (`*`). `compute:*` means every action. */
export const Grant = Type.Object(
  {
    action: Type.String({ pattern: '^compute:(\\*|[a-z]+:(\\*|[a-z]+))$' }),
    scopeKind: ScopeKind,
    scopeId: Type.String({ pattern: '^(\\*|[A-Za-z0-9._:-]{1,128})$' }),
  },
  { additionalProperties: false },
);
export type Grant = Static<typeof Grant>;

export interface Scope {
  kind: Grant['scopeKind'];
  id: string;
}

/** The whole installation; its id is always this. */
export const fleet: Scope = { kind: 'compute-fleet', id: 'fleet' };

/** A tenant's scope and those that contain it. */
export function tenantScopes(tenantId: string): Scope[] {
  return [{ kind: 'compute-tenant', id: tenantId }, fleet];
}

/** One thing of a tenant, and the scopes that contain it. */
export function itemScopes(kind: Scope['kind'], id: string, tenantId: string): Scope[] {
  return [{ kind, id }, ...tenantScopes(tenantId)];
}

/** Whether one of `grants` allows `action` on the thing whose scopes, from narrow to wide, are `scopes`. */
export function isGranted(grants: readonly Grant[], action: string, scopes: readonly Scope[]): boolean {
  return grants.some(
    (grant) => allowsAction(grant.action, action) && scopes.some((scope) => covers(grant, scope)),
  );
}

/** Whether one of `grants` allows `action` on anything at all. */
export function mayAct(grants: readonly Grant[], action: string): boolean {
  return grants.some((grant) => allowsAction(grant.action, action));
}

/** Whether one of `grants`, whatever it allows, is about one of `scopes`. */
export function reaches(grants: readonly Grant[], scopes: readonly Scope[]): boolean {
  return grants.some((grant) => scopes.some((scope) => covers(grant, scope)));
}

/** The single things of one kind for which `action` is granted. */
export function grantedIds(grants: readonly Grant[], action: string, kind: Scope['kind']): string[] {
  return grants
    .filter(
      (grant) => grant.scopeKind === kind && grant.scopeId !== '*' && allowsAction(grant.action, action),
    )
    .map((grant) => grant.scopeId);
}

/**
 * Reads `compute:images:publish@compute-tenant:root`.
 * @throws RailheadError INVALID_INPUT
 */
export function parseGrant(text: string): Grant {
  const match = /^([^@]+)@([a-z-]+):(.+)$/.exec(text);
  const grant = { action: match?.[1] ?? '', scopeKind: match?.[2] ?? '', scopeId: match?.[3] ?? '' };
  if (!Value.Check(Grant, grant))
    throw new RailheadError(
      'INVALID_INPUT',
      `write a grant as ACTION@KIND:ID, e.g. compute:images:publish@compute-tenant:root, not ${text}`,
      { path: 'grant' },
    );
  return grant;
}

function allowsAction(granted: string, action: string): boolean {
  return granted === action || (granted.endsWith('*') && action.startsWith(granted.slice(0, -1)));
}

function covers(grant: Grant, scope: Scope): boolean {
  return grant.scopeKind === scope.kind && (grant.scopeId === '*' || grant.scopeId === scope.id);
}
