import type { FastifyInstance } from 'fastify';
import type { BmcParts } from './server.ts';

const root = '/redfish/v1';

/** What can be read without a login: the versions, and where everything is. */
export function serviceRootRoutes(app: FastifyInstance, { record }: BmcParts): void {
  app.get('/redfish', () => ({ v1: `${root}/` }));
  app.get(root, () => ({
    '@odata.id': `${root}/`,
    '@odata.type': '#ServiceRoot.v1_15_0.ServiceRoot',
    Id: 'RootService',
    Name: 'Root Service',
    RedfishVersion: '1.18.0',
    Vendor: 'Railhead',
    Product: 'Railhead virtual BMC',
    UUID: record.uuid,
    Systems: link('Systems'),
    Chassis: link('Chassis'),
    Managers: link('Managers'),
    AccountService: link('AccountService'),
    SessionService: link('SessionService'),
    EventService: link('EventService'),
    ProtocolFeaturesSupported: { TopSkipQuery: true },
    Links: { Sessions: link('SessionService/Sessions') },
  }));
}

function link(path: string): { '@odata.id': string } {
  return { '@odata.id': `${root}/${path}` };
}
