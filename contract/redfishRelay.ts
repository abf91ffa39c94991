import Type, { type Static } from 'typebox';

/** A request that support sends to a BMC through its site. */
export const RelayRequest = Type.Object(
  {
    method: Type.Enum(['GET', 'POST', 'PATCH']),
    path: Type.String({ pattern: '^/redfish/v1(/[^\\s]*)?$', maxLength: 1024 }),
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

/** What hands out secrets, or is about accounts: not even read. */
const closedToAll: readonly RegExp[] = [
  /^\/AccountService(\/|$)/i,
  /^\/SessionService\/Sessions(\/|$)/i,
  /^\/KeyService(\/|$)/i,
  /\/(SNMP|Snmp\w*|Keys?|ServerConfigurationProfile|ComponentIntegrity|Backup\w*|ExportSystemConfiguration)(\/|$)/,
];

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
  if (closedToAll.some((pattern) => pattern.test(place)))
    return 'accounts, sessions and keys are not relayed';
  if (method === 'GET') return body === undefined ? undefined : 'GET has no body';
  if (method === 'POST')
    return openActions.some((pattern) => pattern.test(place))
      ? undefined
      : 'this action is not among those that are relayed';
  const fields = openFields.find(([pattern]) => pattern.test(place))?.[1];
  if (fields === undefined) return 'this resource is not among those that may be changed';
  const closed = Object.keys(body ?? {}).find((field) => !fields.includes(field));
  return closed === undefined ? undefined : `${closed} may not be changed; these may: ${fields.join(', ')}`;
}

/** The part below the root without the query and a trailing slash; undefined for another spelling of it: dots, escapes, doubled slashes. */
function placeOf(path: string): string | undefined {
  const [resource = ''] = path.split('?');
  if (/[%\\#;]|\/\/|\/\.\.?(\/|$)/.test(resource)) return undefined;
  return resource.slice('/redfish/v1'.length).replace(/\/$/, '');
}
