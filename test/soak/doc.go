// Soak runs the servers of the Deployment for a long time on a real cluster in which
// everything moves: pods come and go, ratios change, the API server is restarted and
// the leader is killed. It says whether every pod was always sized right and in time,
// what the servers needed for that, and whether they needed more and more. It also says
// if little of that happened, for then little was shown.
//
// It must not know how the server plans: what is right it works out by itself, from
// what the owners of pods wrote and the ratios that it has set.
package main
