import { once } from 'node:events';
import path from 'node:path';
import { run } from '#base/command.ts';
import { fromSource, type ManagedProcess, startProcess } from './managedProcess.ts';
import type { SourceBehaviour, SourceRequest } from './sourceBehaviour.ts';

const host = '10.79.0.2';
const port = 8444;

/** The web server that images are pulled from, at the far end of the site's uplink. */
export interface ImageSource {
  /** PEM: a site has to trust it to pull from here. */
  readonly certificateFile: string;
  /** Serves `file` under a name and returns its URL. */
  serve(name: string, file: string, behaviour?: SourceBehaviour): Promise<string>;
  process: ManagedProcess;
}

export async function startSource(namespace: string, directory: string): Promise<ImageSource> {
  const keyFile = path.join(directory, 'source.key');
  const certificateFile = path.join(directory, 'source.pem');
  await makeCertificate(keyFile, certificateFile);
  const process = startProcess({
    namespace,
    command: fromSource('rack/line/sourceMain.ts', [host, String(port), keyFile, certificateFile]),
    logFile: path.join(directory, 'source.log'),
    ipc: true,
  });
  await Promise.race([once(process.child, 'message'), process.died()]);
  return { certificateFile, process, serve: (...what) => serve(process, ...what) };
}

async function serve(
  { child }: ManagedProcess,
  name: string,
  file: string,
  behaviour: SourceBehaviour = 'honest',
): Promise<string> {
  const request: SourceRequest = { serve: { path: `/${name}`, file, behaviour } };
  const done = once(child, 'message');
  child.send(request);
  await done;
  return `https://${host}:${port}/${name}`;
}

async function makeCertificate(keyFile: string, certificateFile: string): Promise<void> {
  const names = `subjectAltName=IP:${host}`;
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', keyFile];
  await run('openssl', [
    'req',
    '-x509',
    ...key,
    '-days',
    '30',
    '-subj',
    '/CN=image source',
    '-addext',
    names,
    '-out',
    certificateFile,
  ]);
}
