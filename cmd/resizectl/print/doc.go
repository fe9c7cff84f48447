// Package print formats answers: tables, documents, names, events as they arrive, colors on
// a terminal, a progress line, and the words for API values such as decisions, sizes and
// scopes, so that all commands use the same words.
//
// Columns and sorting are written here, although k8s.io/kubectl/pkg/cmd/get has them. It would add
// 4.5 MB and 15 modules, and 15 ms to each start. Its sorting ends the process if a field cannot be
// sorted, such as a boolean, and its columns end with an error in the middle of the table if a list
// has fewer elements than the path names.
//
// It must not know the requests or the server: its callers decide what to print, and where.
package print
