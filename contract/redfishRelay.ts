import Type, { type Static } from 'typebox';

/** A request that support sends to a BMC through its site. */
export const RelayRequest = Type.Object(
  {
    method: Type.Enum(['GET', 'POST', 'PATCH']),
    path: Type.String({ pattern: '^/redfish/v1(/[!-~]*)?$', maxLength: 1024 }),
    body: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  },
  { additionalProperties: false },
);
export type RelayRequest = Static<typeof RelayRequest>;

/** What the BMC answered, whatever its status. `truncated`: the body was longer than what is handed on, and is left out. */
export interface RelayAnswer {
  status: number;
  body?: unknown;
  truncated?: true;
}

/**
 * Parts of a path below which secrets are handed out, or that are about accounts: not even read. Anywhere in it: iDRAC has accounts under its
 * manager and sessions under the root. BMCs do not agree about case.
 */
const closedToAll =
  /^(Remote)?AccountService$|^Accounts$|^Sessions$|^KeyService$|^Keys?$|^SNMP\w*$|^ServerConfigurationProfile$|^ComponentIntegrity$|^Backup\w*$|^ExportSystemConfiguration$/i;

/** What may be asked beside a path. Not `$expand`, which reads what is closed from what is open. */
const openQueries: readonly string[] = ['$filter', '$select', '$skip', '$top', 'excerpt', 'only'];

/** The actions that may be posted, by the last part of their path. */
const openActions: readonly RegExp[] = [
  /^\/Systems\/[^/]+\/Actions\/ComputerSystem\.Reset$/,
  /^\/Chassis\/[^/]+\/Actions\/Chassis\.Reset$/,
  /^\/Managers\/[^/]+\/Actions\/Manager\.Reset$/,
  /^\/(Systems|Managers|Chassis)\/[^/]+\/LogServices\/[^/]+\/Actions\/LogService\.ClearLog$/,
  /^\/(Systems|Managers)\/[^/]+\/VirtualMedia\/[^/]+\/Actions\/VirtualMedia\.EjectMedia$/,
  /^\/EventService\/Actions\/EventService\.SubmitTestEvent$/,
];

/** What may be patched, and which fields of it. */
const openFields: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^\/Systems\/[^/]+$/, ['Boot', 'AssetTag', 'IndicatorLED', 'LocationIndicatorActive']],
  [/^\/Chassis\/[^/]+$/, ['AssetTag', 'IndicatorLED', 'LocationIndicatorActive']],
];

/**
 * Why a request is not relayed; undefined when it is. Reading is open but for what bears secrets; of writes only those listed are: they can be
 * undone, and none changes who may use the BMC.
 */
export function whyNotRelayed({ method, path, body }: RelayRequest): string | undefined {
  const place = placeOf(path);
  if (place === undefined) return 'the path is not one in plain spelling below /redfish/v1';
  if (place.split(/[/(]/).some((part) => closedToAll.test(part)))
    return 'accounts, sessions and keys are not relayed';
  if (method === 'GET') return whyNotRead(path, body);
  if (path.includes('?')) return `${method} has no query`;
  if (method === 'POST')
    return openActions.some((pattern) => pattern.test(place))
      ? undefined
      : 'this action is not among those that are relayed';
  return whyNotChanged(place, body);
}

function whyNotRead(path: string, body: RelayRequest['body']): string | undefined {
  if (body !== undefined) return 'GET has no body';
  const [, query] = path.split('?');
  const names = (query?.split('&') ?? []).map((part) => part.split('=', 1)[0] ?? '');
  const closed = names.find((name) => !openQueries.includes(name));
  return closed === undefined ? undefined : `the query ${closed} is not one of ${openQueries.join(', ')}`;
}

function whyNotChanged(place: string, body: RelayRequest['body']): string | undefined {
  const fields = openFields.find(([pattern]) => pattern.test(place))?.[1];
  if (fields === undefined) return 'this resource is not among those that may be changed';
  const closed = Object.keys(body ?? {}).find((field) => !fields.includes(field));
  return closed === undefined ? undefined : `${closed} may not be changed; these may: ${fields.join(', ')}`;
}

/**
 * The part below the root without the query and a trailing slash; undefined for any other spelling of it. Dots, escapes, doubled slashes and
 * control characters are what a URL parser or a BMC makes another path of.
 */
function placeOf(path: string): string | undefined {
  const [resource = '', ...queries] = path.split('?');
  const isPlain = /^\/redfish\/v1(\/[\w.~:@!$&'()*+,=-]+)*\/?$/.test(resource);
  if (!isPlain || /\/\.\.?(\/|$)/.test(resource)) return undefined;
  if (queries.length > 1 || queries.some((query) => !/^[!-~]*$/.test(query) || query.includes('#')))
    return undefined;
  return resource.slice('/redfish/v1'.length).replace(/\/$/, '');
}
