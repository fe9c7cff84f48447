// Package configs is the commands of the server's configuration: it finds those in files,
// and says what is wrong with them, by the parser of the server.
//
// It must not know a server: whoever has none can check their configuration too.
package configs
