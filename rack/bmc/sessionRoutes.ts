import type { FastifyInstance } from 'fastify';
import { passwordChangeNote } from './accountRoutes.ts';
import { collection } from './collection.ts';
import { RedfishError } from './errors.ts';
import type { BmcParts } from './server.ts';
import { type Session, Sessions } from './sessions.ts';

const service = '/redfish/v1/SessionService';
const list = `${service}/Sessions`;

/** Logging in and out. */
export function sessionRoutes(app: FastifyInstance, { account, sessions }: BmcParts): void {
  app.get(service, () => ({
    '@odata.id': service,
    '@odata.type': '#SessionService.v1_1_9.SessionService',
    Id: 'SessionService',
    Name: 'Session Service',
    ServiceEnabled: true,
    SessionTimeout: Sessions.timeoutSeconds,
    Sessions: { '@odata.id': list },
  }));
  app.get(list, () =>
    collection(
      list,
      'Session',
      sessions.ids().map((id) => `${list}/${id}`),
    ),
  );
  app.post<{ Body: unknown }>(list, async ({ body }, reply) => {
    const { UserName, Password } = (body ?? {}) as Record<string, unknown>;
    if (UserName !== account.username || Password !== account.password) {
      throw new RedfishError(401, 'AccessDenied');
    }
    const session = sessions.open(account.username);
    if (session === undefined) throw new RedfishError(503, 'SessionLimitExceeded');
    reply.code(201).header('location', `${list}/${session.id}`).header('x-auth-token', session.token);
    return { ...sessionResource(session), ...passwordChangeNote(account) };
  });
  app.get<{ Params: { id: string } }>(`${list}/:id`, ({ params }) => sessionResource(existing(params.id)));
  app.delete<{ Params: { id: string } }>(`${list}/:id`, async ({ params }, reply) => {
    sessions.close(existing(params.id).id);
    return reply.code(204).send();
  });

  function existing(id: string): Session {
    const session = sessions.byId(id);
    if (session === undefined)
      throw new RedfishError(404, 'ResourceMissingAtURI', { args: [`${list}/${id}`] });
    return session;
  }
}

function sessionResource({ id, username, createdAt }: Session): Record<string, unknown> {
  return {
    '@odata.id': `${list}/${id}`,
    '@odata.type': '#Session.v1_6_0.Session',
    Id: id,
    Name: 'Session',
    UserName: username,
    CreatedTime: createdAt,
  };
}
