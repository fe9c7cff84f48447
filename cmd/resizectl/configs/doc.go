// Package configs has the commands for the server's configuration: it finds configurations in
// files and reports what is wrong with them, by the server's own parser.
//
// It must not know a server, so that users without one can check their configuration, too.
//
// It does not use the verbs of package objects, which call a server.
package configs
