/** An iPXE as far as our scripts use it: its interfaces, and how the network answers them. */
export interface IpxeWorld {
  /** Settings of each interface, `mac` among them; one with `ip` has a lease. */
  interfaces: Record<string, Record<string, string>>;
  /** What DHCP on an interface brings; undefined when nobody answers. */
  dhcp?(name: string, userClass: string | undefined): Record<string, string> | undefined;
  /** Whether something is at a URL, with those interfaces open. */
  chain?(url: string, open: readonly string[]): boolean;
}

/** What a script did, in order, and how it ended: by starting what a URL named, or by leaving with a status. */
export interface Run {
  did: string[];
  end: string;
}

const mostSteps = 20_000;

/** Runs a script as iPXE 1.21 does: words first, then settings in each word (`core/exec.c`), a line that fails ends it (`image/script.c`). */
export function runScript(script: string, world: IpxeWorld): Run {
  const lines = script.split('\n');
  const settings = new Map<string, string>();
  const open = new Set<string>();
  const did: string[] = [];
  let at = 0;
  let end: string | undefined;

  const lookUp = (name: string): string => {
    const [place, key] = name.includes('/') ? name.split('/') : [undefined, name];
    const plain = (key ?? '').replace(/:.*/, '');
    return (place === undefined ? settings.get(plain) : world.interfaces[place]?.[plain]) ?? '';
  };
  const expand = (word: string): string => {
    for (let text = word; ; ) {
      const next = text.replace(/\$\{([^${}]*)\}/, (_, name: string) => lookUp(name));
      if (next === text) return text;
      text = next;
    }
  };

  const commands: Record<string, (...args: string[]) => boolean> = {
    '': () => true,
    '#!ipxe': () => true,
    echo: (...words) => did.push(`says ${words.join(' ')}`) > 0,
    set: (name = '', ...words) => settings.set(name.replace(/:.*/, ''), words.join(' ')) !== undefined,
    clear: (name = '') => settings.delete(name) || true,
    inc: (name = '') => settings.set(name, String(Number(settings.get(name)) + 1)) !== undefined,
    isset: (...words) => words.join('') !== '',
    iseq: (one, other) => one === other,
    sleep: (seconds) => did.push(`waits ${seconds}`) > 0,
    goto: (label) => {
      at = lines.indexOf(`:${label}`) + 1;
      if (at === 0) throw new Error(`no label ${label}`);
      return true;
    },
    ifopen: (name = '') => open.add(name) !== undefined && name in world.interfaces,
    ifclose: (name = '') => open.delete(name) || true,
    dhcp: (name = '') => {
      const answer = world.dhcp?.(name, settings.get('user-class'));
      did.push(`dhcp ${name} as ${settings.get('user-class')}`);
      if (answer === undefined) return false;
      open.add(name);
      Object.assign(world.interfaces[name] ?? {}, answer);
      return true;
    },
    chain: (...words) => {
      const url = words.at(-1) ?? '';
      did.push(`asks ${url}`);
      if (!world.chain?.(url, [...open])) return false;
      end = url;
      return true;
    },
    exit: (status) => {
      end = `exit ${status}`;
      return true;
    },
  };

  for (let steps = 0; end === undefined; steps++) {
    if (steps > mostSteps) throw new Error('the script does not end');
    const line = lines[at++] ?? 'exit 0';
    if (line.startsWith(':')) continue;
    let ok = true;
    const here = at;
    for (const [index, part] of line.split(/ (?=&&|\|\|)/).entries()) {
      const [first = '', ...rest] = part.split(' ');
      if (index > 0 && (first === '&&') !== ok) continue;
      const [name = '', ...args] = (index > 0 ? rest : [first, ...rest]).map(expand);
      const command = commands[name];
      if (command === undefined) throw new Error(`no command ${name}`);
      ok = command(...args);
      if (at !== here || end !== undefined) break;
    }
    if (!ok) end ??= `failed at ${line}`;
  }
  return { did, end };
}
