import { silentLog } from '#base/log.ts';
import { IpmiBmc } from '#ipmi/bmc.ts';
import { IpmiClient } from '#ipmi/client.ts';
import type { BootMemory } from '#ipmi/memory.ts';
import { steppingClock } from '../fakes/clocks.ts';
import { faultyTool, type Rule } from '../fakes/faultyTool.ts';

/** A BMC that does what these rules say, and whoever drives it; time passes by sleeping only. */
export async function setUpTool(
  rules: readonly Rule[],
  {
    username = 'admin',
    password = 'secret',
    memory = {},
  }: { username?: string; password?: string; memory?: BootMemory } = {},
) {
  const tool = await faultyTool(rules);
  const suites = new Map<string, number>();
  const clock = steppingClock();
  const common = {
    address: 'ipmi://192.0.2.7',
    username,
    password,
    program: tool.program,
    ciphers: {
      find: (at: string) => suites.get(at),
      keep: (at: string, suite: number) => void suites.set(at, suite),
    },
    log: silentLog(),
    clock,
  };
  const open = () => new IpmiBmc({ ...common, firmware: () => 'bios', memory });
  return {
    bmc: open(),
    open,
    client: new IpmiClient(common),
    commands: tool.commands,
    suites,
    clock,
    memory,
  };
}
