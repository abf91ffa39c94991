import type { EfiLoader } from '#contract/efiLoader.ts';
import { bootScript } from '#ipxe/bootScript.ts';
import type { Boots } from '../boots.ts';
import type { LeaseTable } from '../dhcp/leases.ts';
import type { BootDecision, MachineFacts } from '../machine.ts';
import { bytesAnswer, scriptAnswer } from './answer.ts';
import { binaryRoute } from './binaries.ts';
import type { ImageReader } from './imageReader.ts';
import { imageRoute } from './images.ts';
import { machineScriptRoute } from './machineScript.ts';
import type { BootRequest } from './request.ts';
import type { Route } from './server.ts';

export interface BootRoutesOptions {
  interface: { address: string };
  httpUrl: string;
  machineUrl: string;
  files: ReadonlyMap<string, Buffer>;
  images: ImageReader;
  decide(machine: MachineFacts): BootDecision | Promise<BootDecision>;
  boots: Boots;
  leases: LeaseTable;
}

/** Everything that the boot listener serves; what is not listed here is not found. */
export function bootRoutes(options: BootRoutesOptions): Route[] {
  const { boots, decide, httpUrl, machineUrl } = options;
  const script = bootScript(httpUrl, options.interface.address);
  return [
    (request) => (request.path === '/boot.ipxe' ? scriptAnswer(script) : undefined),
    (request) =>
      machineScriptRoute(request, {
        httpUrl,
        machineUrl,
        decide,
        scriptGiven: (mac) => boots.scriptGiven(mac),
        note: (machine, decision) => noteScript(machine, decision, boots),
      }),
    (request) => {
      const answer = binaryRoute(request, options.files);
      if (answer !== undefined && request.method === 'GET') noteLoader(request, options);
      return answer;
    },
    (request) => {
      if (request.method === 'GET') noteImage(request, options);
      return imageRoute(request, options.images);
    },
    ({ path }) => (path === '/healthz' ? bytesAnswer(Buffer.from('ok\n'), 'text/plain') : undefined),
  ];
}

function noteScript({ mac, uuid, firmware }: MachineFacts, decision: BootDecision, boots: Boots): void {
  const what =
    decision.kind === 'disk'
      ? localDisk(firmware, decision.loader)
      : `ramdisk ${decision.digest.slice(0, 12)}`;
  boots.note(
    mac,
    decision.kind === 'disk' ? 'boot.disk' : 'boot.script',
    `${what} (${[firmware, uuid].filter(Boolean).join(', ')})`,
  );
}

function localDisk(firmware: MachineFacts['firmware'], loader: EfiLoader | undefined): string {
  return loader === undefined || firmware === 'bios'
    ? 'local disk'
    : `local disk, EFI system partition ${loader.espGuid}`;
}

function noteLoader({ from, path }: BootRequest, { boots, leases }: BootRoutesOptions): void {
  const mac = leases.macAt(from);
  if (mac === undefined) return;
  boots.note(mac, 'boot.http', path);
  boots.loaderGiven(mac);
}

/** Ranges are the many pieces of one download: only a request for the start is a step of the boot. */
function noteImage({ from, path, range }: BootRequest, { boots, leases }: BootRoutesOptions): void {
  const mac = leases.macAt(from);
  if (mac === undefined || !path.startsWith('/images/')) return;
  if (range === undefined || range.startsWith('bytes=0-')) boots.note(mac, 'boot.http', path);
}
