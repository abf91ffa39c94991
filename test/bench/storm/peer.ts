import { copyFile, mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { openToolbox, type Toolbox } from '#base/debian/toolbox.ts';
import { type ManagedProcess, startProcess } from '#rack/line/managedProcess.ts';
import type { Wire } from '../wire.ts';
import { digest, httpUrl, initrd, kernel, staticScript } from './files.ts';

const cacheDirectory = path.resolve(import.meta.dirname, '../../../.cache/debian');

/** Debian's dnsmasq and nginx, unpacked and not installed. */
export function fetchPeer(): Promise<Toolbox> {
  return openToolbox(['dnsmasq-base', 'nginx'], { cacheDirectory });
}

/** dnsmasq gives addresses and the loader, nginx the script, kernel and initrd as plain files. */
export async function startPeer(
  toolbox: Toolbox,
  { server }: Wire,
  directory: string,
  ipxeDirectory: string,
): Promise<ManagedProcess[]> {
  const root = path.join(directory, 'www');
  await layOut(root, ipxeDirectory);
  await writeFile(path.join(directory, 'nginx.conf'), nginxConfiguration(directory, root));
  const start = (program: string, args: string[], logFile: string) => {
    const [loader, rest] = toolbox.command(program, args);
    const log = path.join(directory, logFile);
    return startProcess({ namespace: server.namespace, command: [loader, ...rest], logFile: log });
  };
  return [
    start('usr/sbin/dnsmasq', dnsmasqArguments(server.interfaceName, directory, root), 'dnsmasq.log'),
    start('usr/sbin/nginx', ['-p', directory, '-e', 'nginx.log', '-c', 'nginx.conf'], 'nginx.out'),
  ];
}

async function layOut(root: string, ipxeDirectory: string): Promise<void> {
  const sections = path.join(root, 'images/sha256', digest, 'sections');
  await mkdir(sections, { recursive: true });
  await writeFile(path.join(root, 'boot.ipxe'), `#!ipxe\nchain ${httpUrl}/ipxe\n`);
  await writeFile(path.join(root, 'ipxe'), staticScript());
  await writeFile(path.join(sections, 'linux'), kernel);
  await writeFile(path.join(sections, 'initrd'), initrd);
  for (const name of await readdir(ipxeDirectory))
    await copyFile(path.join(ipxeDirectory, name), path.join(root, name));
}

function dnsmasqArguments(interfaceName: string, directory: string, root: string): string[] {
  return [
    ...['--no-daemon', '--conf-file=/dev/null', '--port=0', '--user=root', '--pid-file='],
    ...[`--interface=${interfaceName}`, '--bind-interfaces', '--no-ping', '--dhcp-authoritative'],
    ...['--dhcp-range=10.78.4.0,10.78.15.255,255.255.0.0,10m', '--dhcp-lease-max=4000'],
    ...[`--dhcp-leasefile=${directory}/leases`, '--quiet-dhcp', '--quiet-tftp'],
    ...['--dhcp-match=set:ipxe,175', '--dhcp-boot=tag:!ipxe,snponly.efi'],
    `--dhcp-boot=tag:ipxe,${httpUrl}/boot.ipxe`,
    ...['--enable-tftp', `--tftp-root=${root}`, '--tftp-max=4000'],
  ];
}

function nginxConfiguration(home: string, root: string): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  return `daemon off; user root; pid ${home}/nginx.pid; worker_processes 1;
events { worker_connections 4096; }
http {
  access_log off; sendfile on; tcp_nopush on;
  ${temporary.map((name) => `${name}_temp_path ${home}/${name};`).join(' ')}
  server { listen ${new URL(httpUrl).host} backlog=1024; root ${root}; }
}
`;
}
