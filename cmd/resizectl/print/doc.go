// Package print formats answers: tables, documents, names, events as they arrive, colors on
// a terminal, a progress line, and the words for API values such as decisions, sizes and
// scopes, so that all commands use the same words.
//
// It must not know the requests or the server: its callers decide what to print, and where.
package print
