// Package hostile attacks a real server: without credentials, with made-up ones, and with the
// rights of a viewer. It holds the server to what other callers notice of that: they are served
// as before, and the server's memory hardly grows.
//
// It must not know the insides of the server.
package hostile
