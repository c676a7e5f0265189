import type { SeededRandom } from '../../kit/random.ts'
import { ADJECTIVES, ANIMALS } from '../names.ts'

/** A user of the demo. */
export interface Person {
  readonly id: string
  readonly login: string
}

export function inventPeople(random: SeededRandom, count: number): Person[] {
  const people: Person[] = []
  const taken = new Set<string>()
  let id = random.between(100_000_000, 200_000_000)
  while (people.length < count) {
    const name = `${random.pick(ADJECTIVES)}_${random.pick(ANIMALS)}`
    const login = taken.has(name) ? `${name}_${people.length}` : name
    taken.add(login)
    id += random.between(1, 90_000)
    people.push({ id: String(id), login })
  }
  return people
}

export function displayName(login: string): string {
  return login.replace(/(^|_)([a-z])/g, (_, gap: string, letter: string) => gap + letter.toUpperCase())
}
