/** @jsxRuntime automatic @jsxImportSource preact */
/** The tags of a stream. */
export const Tags = ({ tags, most = tags.length }: { tags: readonly string[]; most?: number }) =>
  tags.length === 0 ? null : (
    <ul class="tags" aria-label="Tags">
      {tags.slice(0, most).map(tag => (
        <li key={tag} class="chip">
          {tag}
        </li>
      ))}
    </ul>
  )
