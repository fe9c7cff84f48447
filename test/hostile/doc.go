// Package hostile attacks a real server: without credentials, with made-up ones, and with the
// rights of a viewer. It checks that other callers are served as before, and that the
// server's memory hardly grows.
//
// It must not know the internals of the server.
package hostile
