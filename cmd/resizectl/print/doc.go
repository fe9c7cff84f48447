// Package print is how answers look: tables, documents, names, events as they come,
// colours on a terminal, a line of progress, and the words for what the API has, such as
// decisions, sizes and scopes, so that all commands use the same.
//
// It must not know what was asked, nor of whom: it is given what to print, and where.
package print
