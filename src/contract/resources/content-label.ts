/** The content classification labels that a channel can set (D-81). */
export const CONTENT_LABELS = [
  'DebatedSocialIssuesAndPolitics',
  'DrugsIntoxication',
  'Gambling',
  'ProfanityVulgarity',
  'SexualThemes',
  'ViolentGraphic',
] as const

/** Never stored: a channel has this label if and only if its `is_mature` is true. */
export const MATURE_GAME = 'MatureGame'
