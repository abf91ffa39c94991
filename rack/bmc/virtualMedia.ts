import { createWriteStream } from 'node:fs';
import { copyFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance } from 'fastify';
import { Agent, fetch } from 'undici';
import { collection } from './collection.ts';
import { RedfishError } from './errors.ts';
import type { BmcParts } from './server.ts';

const list = '/redfish/v1/Systems/1/VirtualMedia';
const drive = `${list}/Cd`;
const actions = `${drive}/Actions`;

/** The virtual CD drive. The BMC fetches the whole image itself, over its management network, before it inserts it. */
export function virtualMediaRoutes(app: FastifyInstance, { machine, record }: BmcParts): void {
  const file = path.join(record.directory, 'medium.iso');
  let image: string | undefined;
  const insert = async (url: unknown) => {
    if (typeof url !== 'string') {
      throw new RedfishError(400, 'ActionParameterMissing', {
        args: ['InsertMedia', 'Image'],
        properties: ['Image'],
      });
    }
    await fetchImage(url, file);
    await machine.changeMedium(file);
    image = url;
  };
  const eject = async () => {
    await machine.changeMedium(undefined);
    await rm(file, { force: true });
    image = undefined;
  };

  app.get(list, () => collection(list, 'VirtualMedia', [drive]));
  app.get(drive, () => driveResource(image));
  app.patch<{ Body: unknown }>(drive, async ({ body }, reply) => {
    const { Image } = (body ?? {}) as Record<string, unknown>;
    await (Image === null ? eject() : insert(Image));
    return reply.code(204).send();
  });
  app.post<{ Body: unknown }>(`${actions}/VirtualMedia.InsertMedia`, async ({ body }, reply) => {
    await insert(((body ?? {}) as Record<string, unknown>).Image);
    return reply.code(204).send();
  });
  app.post(`${actions}/VirtualMedia.EjectMedia`, async (_request, reply) => {
    await eject();
    return reply.code(204).send();
  });
}

function driveResource(image: string | undefined): Record<string, unknown> {
  return {
    '@odata.id': drive,
    '@odata.type': '#VirtualMedia.v1_6_2.VirtualMedia',
    Id: 'Cd',
    Name: 'Virtual CD',
    MediaTypes: ['CD', 'DVD'],
    Image: image ?? null,
    ImageName: image === undefined ? null : path.posix.basename(image),
    Inserted: image !== undefined,
    ConnectedVia: image === undefined ? 'NotConnected' : 'URI',
    WriteProtected: true,
    Actions: {
      '#VirtualMedia.InsertMedia': { target: `${actions}/VirtualMedia.InsertMedia` },
      '#VirtualMedia.EjectMedia': { target: `${actions}/VirtualMedia.EjectMedia` },
    },
  };
}

/** BMCs are shipped so: what certificate the image's server shows they do not ask. */
const trusting = new Agent({ connect: { rejectUnauthorized: false } });

async function fetchImage(url: string, file: string): Promise<void> {
  try {
    if (url.startsWith('file:')) return await copyFile(fileURLToPath(url), file);
    const response = await fetch(url, { dispatcher: trusting });
    if (!response.ok || response.body === null) throw new Error(`HTTP status ${response.status}`);
    await pipeline(Readable.fromWeb(response.body), createWriteStream(file));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new RedfishError(400, 'GeneralError', { args: [`${url}: ${reason}`], properties: ['Image'] });
  }
}
