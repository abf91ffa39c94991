/** The fields of one field replaceable unit, as `ipmitool fru print` names them. */
export type Fru = Readonly<Record<string, string>>;

/** The units that ipmitool prints, with what it could read of each. */
export function parseFrus(text: string): Fru[] {
  const units: Record<string, string>[] = [];
  for (const line of text.split('\n')) {
    const [name, value] = fieldOf(line);
    if (!/^[A-Za-z][A-Za-z0-9 ]*$/.test(name)) continue;
    if (name === 'FRU Device Description') units.push({});
    // A unit may have several extra fields of one name; the first counts.
    const unit = units.at(-1);
    if (unit !== undefined && value !== '' && !Object.hasOwn(unit, name)) unit[name] = value;
  }
  return units;
}

/** Name and value of a line that ipmitool prints; both are empty where there is no colon. */
export function fieldOf(line: string): [name: string, value: string] {
  const colon = line.indexOf(':');
  return colon < 0 ? ['', ''] : [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
}

export interface MachineFru {
  manufacturer?: string;
  model?: string;
  serial?: string;
}

/** Which machine it is: the first unit that says of what product it is part, else of what board. */
export function machineFru(units: readonly Fru[]): MachineFru {
  const unit =
    units.find((one) => one['Product Name'] ?? one['Product Serial']) ??
    units.find((one) => one['Board Product']);
  if (unit === undefined) return {};
  const fields = {
    manufacturer: unit['Product Manufacturer'] ?? unit['Board Mfg'],
    model: unit['Product Name'] ?? unit['Board Product'],
    serial: unit['Product Serial'] ?? unit['Chassis Serial'] ?? unit['Board Serial'],
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
