/** @jsxRuntime automatic @jsxImportSource preact */
/** Text with Markdown's marks for code and emphasis. */
export const Prose = ({ text }: { text: string }) => (
  <>
    {text.split(/(`[^`]+`|\*[^*]+\*)/).map(piece => {
      if (/^`.+`$/.test(piece)) return <code>{piece.slice(1, -1)}</code>
      if (/^\*.+\*$/.test(piece)) return <em>{piece.slice(1, -1)}</em>
      return piece
    })}
  </>
)
