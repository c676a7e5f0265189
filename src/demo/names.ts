/** Names of the demo's users, games and titles. All invented. */
const words = (text: string): readonly string[] => text.split(' ')

export const ADJECTIVES = words(
  'amber brisk cobalt dusty ember frosty gentle hazel ivory jolly keen lunar mellow nimble opal plucky quiet rustic solar tidal umber velvet witty zesty',
)

export const ANIMALS = words(
  'otter heron lynx badger falcon gecko ibis jackal koala lemur marten newt osprey puffin quokka raven stoat tapir urchin viper wombat yak zebu mantis',
)

export const GAMES: readonly string[] = [
  'Tidefall',
  'Emberline',
  'Hollow Orchard',
  'Kite Racers',
  'Glasswright',
  'Night Ferry',
  'Paper Armada',
  'Rootbound',
  'Signal Hill',
  'Thaw',
  'Undercroft',
  'Windfarm Tycoon',
]

export const TITLES: readonly string[] = [
  'First light over the reef',
  'Blind run, no map',
  'Chill building and talk',
  'Ranked until it hurts',
  'Speedrun practice',
  'Learning the hard way',
  'Viewer games tonight',
  'One more try',
  'New patch, new me',
  'Music while we work',
]

export const TAGS = words('Relaxed Competitive Beginner Speedrun NoSpoilers FamilyFriendly Educational')

/** English three times, so that it is the most common language. */
export const LANGUAGES = words('en en en de es fr ja ko pt')

export const MARKERS: readonly string[] = [
  'the jump',
  'boss down',
  'funny',
  'clip this',
  'new area',
  'close call',
  '',
]

export const DESCRIPTIONS: readonly string[] = [
  'Night dives and slow games.',
  'Speedruns on weekdays, everything else on Sundays.',
  'I build things until they fall over.',
  'Cosy evenings, loud mornings.',
  'Learning one game at a time.',
  'Mapping every cave twice.',
  'Here for the music and the company.',
]

/** The display name of one user, which has nothing in common with the login. */
export const OTHER_NAME = '灯台のカワウソ'
