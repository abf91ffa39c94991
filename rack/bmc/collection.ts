/** A Redfish collection of the resources at `members`. */
export function collection(at: string, kind: string, members: readonly string[]): Record<string, unknown> {
  return {
    '@odata.id': at,
    '@odata.type': `#${kind}Collection.${kind}Collection`,
    Name: `${kind} Collection`,
    'Members@odata.count': members.length,
    Members: members.map((member) => ({ '@odata.id': member })),
  };
}
