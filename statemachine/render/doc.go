// Package render draws a table for people: [Page] as Markdown, [Mermaid] as a
// diagram. The same table gives the same text, so that a page can be kept in
// Git and checked for drift.
package render
