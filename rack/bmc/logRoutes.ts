import type { FastifyInstance } from 'fastify';
import { collection } from './collection.ts';
import { RedfishError } from './errors.ts';
import type { LogRecord } from './eventLog.ts';
import type { BmcParts } from './server.ts';

export const logServices = '/redfish/v1/Systems/1/LogServices';
const log = `${logServices}/SEL`;
const entries = `${log}/Entries`;
const pageSize = 50;

/** The system event log: written out in pages, the oldest entry first. */
export function logRoutes(app: FastifyInstance, { eventLog }: BmcParts): void {
  app.get(logServices, () => collection(logServices, 'LogService', [log]));
  app.get(log, () => ({
    '@odata.id': log,
    '@odata.type': '#LogService.v1_7_0.LogService',
    Id: 'SEL',
    Name: 'System Event Log',
    LogEntryType: 'SEL',
    OverWritePolicy: 'WrapsWhenFull',
    ServiceEnabled: true,
    Entries: { '@odata.id': entries },
    Actions: { '#LogService.ClearLog': { target: `${log}/Actions/LogService.ClearLog` } },
  }));
  app.get<{ Querystring: { $skip?: string } }>(entries, ({ query }) =>
    page(eventLog.records, Number(query.$skip ?? 0)),
  );
  app.get<{ Params: { id: string } }>(`${entries}/:id`, ({ params: { id } }) => {
    const record = eventLog.records.find((one) => String(one.id) === id);
    if (record === undefined)
      throw new RedfishError(404, 'ResourceMissingAtURI', { args: [`${entries}/${id}`] });
    return entryOf(record);
  });
  app.post(`${log}/Actions/LogService.ClearLog`, async (_request, reply) => {
    eventLog.clear();
    return reply.code(204).send();
  });
}

function page(records: readonly LogRecord[], skip: number): Record<string, unknown> {
  const next = skip + pageSize;
  return {
    ...collection(entries, 'LogEntry', []),
    'Members@odata.count': records.length,
    Members: records.slice(skip, next).map(entryOf),
    ...(next < records.length && { 'Members@odata.nextLink': `${entries}?$skip=${next}` }),
  };
}

function entryOf({ id, created, severity, sensorType, message }: LogRecord): Record<string, unknown> {
  return {
    '@odata.id': `${entries}/${id}`,
    '@odata.type': '#LogEntry.v1_16_0.LogEntry',
    Id: String(id),
    Name: `Log Entry ${id}`,
    EntryType: 'SEL',
    Created: created,
    Severity: severity,
    SensorType: sensorType,
    Message: message,
  };
}
