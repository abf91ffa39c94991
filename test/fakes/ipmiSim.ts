import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openToolbox } from '#base/debian/toolbox.ts';

/** OpenIPMI's simulator of a BMC, with a chassis whose power and boot device are files. It speaks cipher suites 1 to 15, and forgets the UEFI flag. */
export interface IpmiSim {
  address: string;
  username: string;
  password: string;
  /** A program `ipmitool`, of Debian's package, that notes its arguments. */
  ipmitool: string;
  /** The commands that ipmitool was started with, without what every one of them has. */
  commands(): Promise<string[]>;
  /** All arguments that ipmitool was ever started with. */
  arguments(): Promise<string>;
  /** `power` is 0 or 1, `boot` a word of the simulator's. */
  chassis(name: 'power' | 'boot'): Promise<string>;
  /** Sets a file of the chassis, as somebody at the machine's button would. */
  setChassis(name: 'power' | 'boot', value: string): Promise<void>;
  /** Off, and nothing noted. */
  reset(): Promise<void>;
  stop(): Promise<void>;
}

const user = { username: 'admin', password: 'p4ss:word-Xy' };

// Here, since a new machine downloads it first: that is no test's time.
const toolbox = await openToolbox(['ipmitool', 'openipmi'], { cacheDirectory: '.cache/debian' });

export interface IpmiSimOptions {
  password?: string;
  /** At a free port of loopback unless named. */
  host?: string;
  port?: number;
  /** The TCP port that is the serial port of the machine, at `serialHost`; loopback unless named. */
  serialPort?: number;
  serialHost?: string;
  /** How a program is started where that host is, e.g. in another network namespace. */
  within?: (command: readonly string[]) => [program: string, args: string[]];
}

export async function startIpmiSim(given: IpmiSimOptions = {}): Promise<IpmiSim> {
  const { username, password } = { ...user, ...given };
  const { host = '127.0.0.1', serialHost = '127.0.0.1', serialPort } = given;
  const { within = ([program = '', ...args]) => [program, args] } = given;
  const directory = await mkdtemp(path.join(tmpdir(), 'railhead-ipmi-'));
  const file = (name: string) => path.join(directory, name);
  const port = given.port ?? (await freeUdpPort());
  await mkdir(file('state'));
  const reset = async () => {
    await writeFile(file('power'), '0');
    await writeFile(file('boot'), 'none');
    await writeFile(file('arguments'), '');
  };
  await reset();
  await script(file('chassis'), chassisScript(directory));
  await writeFile(
    file('lan.conf'),
    lanConf({
      ...{ host, port, username, password },
      chassis: file('chassis'),
      serial: serialPort === undefined ? undefined : `${serialHost}:${serialPort}`,
    }),
  );
  await writeFile(file('bmc.emu'), emulator);
  await script(file('ipmitool'), toolScript(file('arguments'), toolbox.command('usr/bin/ipmitool', [])));
  const files = ['-c', file('lan.conf'), '-f', file('bmc.emu'), '-s', file('state'), '-n'];
  const [program, args] = within(toolbox.command('usr/bin/ipmi_sim', files).flat());
  const child = spawn(program, args, { stdio: ['pipe', 'ignore', 'inherit'] });
  const died = once(child, 'exit').then(() => Promise.reject(new Error('ipmi_sim does not start')));
  await Promise.race([listening(host, port), died]);
  died.catch(() => {});
  const lines = async () =>
    (await readFile(file('arguments'), 'utf8')).split('\n').filter((line) => line !== '');
  return {
    address: `ipmi://${host}:${port}`,
    username,
    password,
    ipmitool: file('ipmitool'),
    commands: async () => (await lines()).map((line) => line.replace(/^.* -R \d+ (-v )?/, '')),
    arguments: async () => (await lines()).join('\n'),
    chassis: async (name) => (await readFile(file(name), 'utf8')).trim(),
    setChassis: (name, value) => writeFile(file(name), value),
    reset,
    stop: async () => {
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Asks whether anybody is there until somebody is (ASF presence ping): the simulator keeps what it prints to itself. */
async function listening(host: string, port: number): Promise<void> {
  const socket = createSocket('udp4');
  const ping = Buffer.from('0600ff06000011be80000000', 'hex');
  const asking = setInterval(() => socket.send(ping, port, host), 20);
  try {
    await once(socket, 'message');
  } finally {
    clearInterval(asking);
    socket.close();
  }
}

async function script(file: string, text: string): Promise<void> {
  await writeFile(file, text);
  await chmod(file, 0o755);
}

/** How the simulator asks for and changes the chassis (ipmi_lan(5), chassis_control). */
function chassisScript(directory: string): string {
  return `#!/bin/sh
cd ${directory} || exit 1
op=$2
case $op in
get)
  shift 2
  for name; do
    case $name in
    power) echo "power:$(cat power)" ;;
    boot) echo "boot:$(cat boot)" ;;
    *) echo "$name:0" ;;
    esac
  done ;;
set)
  shift 2
  while [ $# -gt 0 ]; do
    case $1 in
    power) printf %s "$2" >power ;;
    boot) printf %s "$2" >boot ;;
    shutdown) printf %s 0 >power ;;
    esac
    shift 2
  done ;;
esac
exit 0
`;
}

/** Notes the arguments, then runs the real one in its place. */
function toolScript(notes: string, [program, args]: [string, string[]]): string {
  return `#!/bin/sh
echo "$*" >>${notes}
exec ${program} ${args.join(' ')} "$@"
`;
}

interface LanConf {
  host: string;
  port: number;
  chassis: string;
  username: string;
  password: string;
  serial: string | undefined;
}

function lanConf({ host, port, chassis, username, password, serial }: LanConf): string {
  const sol = serial === undefined ? '' : `  sol "tcp:${serial}" 115200\n`;
  return `name "railhead"
set_working_mc 0x20
  startlan 1
    addr ${host} ${port}
    priv_limit admin
    allowed_auths_admin none md2 md5 straight
    guid a123456789abcdefa123456789abcdef
  endlan
  chassis_control "${chassis} 0x20"
${sol}  user 1 true "" "" user 10 none md2 md5 straight
  user 2 true "${username}" "${password}" admin 10 none md2 md5 straight
`;
}

const emulator = `mc_setbmc 0x20
mc_add 0x20 0 no-device-sdrs 0x23 9 8 0x9f 0x2a7c 0xf02 persist_sdr
sel_enable 0x20 1000 0x0a
mc_enable 0x20
`;

async function freeUdpPort(): Promise<number> {
  const socket = createSocket('udp4');
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const { port } = socket.address();
  socket.close();
  return port;
}
