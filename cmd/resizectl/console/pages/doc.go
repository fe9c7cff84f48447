// Package pages shows the cluster in a browser: a page per subject, each with an address that holds its filters, and each live. It
// shows what the server answers, in the words and tables of the commands.
//
// It must not compute sizes, change anything, or know how requests reach it: package gate does.
package pages
