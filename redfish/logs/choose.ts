import { asText, type JsonObject } from '../json.ts';

/** A log service as it describes itself, and whose it is. */
export interface LogService {
  path: string;
  body: JsonObject;
  of: 'system' | 'manager' | 'chassis';
}

/** Names that the hardware's event log goes by, where a vendor has no word of its own. */
const usualNames = ['sel', 'iml', 'eventlog', 'systemeventlog', 'standardlog', 'activelog', 'log1'];
/** Logs of something else: who logged in, what programs wrote, memory images. */
const otherLogs = /audit|security|journal|dump|crash|post|hostlogger|lclog|fault|redfishlog|iel|^sl$|debug/i;

/**
 * The log that tells what happens to the hardware: the vendor's own name for it, else what calls itself a SEL, else a usual name, else one of
 * events. The system's goes before the manager's, which on some is about the BMC alone. Undefined when there is none.
 */
export function chooseLog(
  services: readonly LogService[],
  vendorNames: readonly string[],
): LogService | undefined {
  const ranked = services
    .map((service) => ({ service, rank: rankOf(service, vendorNames) }))
    .filter(({ rank }) => rank < unfit);
  return ranked.sort((one, other) => one.rank - other.rank)[0]?.service;
}

const unfit = 1000;
const places: readonly LogService['of'][] = ['system', 'manager', 'chassis'];

function rankOf({ body, of, path }: LogService, vendorNames: readonly string[]): number {
  const id = (asText(body.Id) ?? path.split('/').at(-1) ?? '').toLowerCase();
  const place = places.indexOf(of);
  if (body.ServiceEnabled === false) return unfit;
  const named = vendorNames.findIndex((name) => name.toLowerCase() === id);
  if (named >= 0) return named * 10 + place;
  if (body.LogEntryType === 'SEL') return 100 + place;
  const usual = usualNames.indexOf(id.replaceAll(/[^a-z0-9]/g, ''));
  if (usual >= 0) return 200 + usual * 10 + place;
  if (otherLogs.test(id)) return unfit;
  return body.LogEntryType === 'Event' ? 300 + place : 400 + place;
}
