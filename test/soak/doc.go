// Soak runs the servers of the Deployment for a long time on a real cluster that keeps
// changing: pods come and go, ratios change, the API server is restarted and the leader
// is killed. It reports whether every pod was always sized correctly and in time, what
// resources the servers used, and whether their usage grew. It also reports if little of
// that happened, because such a run shows little.
//
// It must not know how the server plans: it calculates the correct sizes by itself, from
// the originals and the ratios that it has set.
package main
