// Package gate lets the browser of one user, and nobody else, read the pages that a process serves on this machine.
//
// Loopback is shared: with other users of the machine, and with every web page that the user visits. So the pages have a host name of
// their own, which only the user knows, and a cookie that belongs to that name. It must not know what the pages show.
package gate
