// Package fill writes copies of pods directly to a cluster's etcd, in a twentieth of the
// time that the API server would take. The API server sees them come and go like writes
// of another API server: its lists and watches are correct, and it does not have to be
// restarted.
//
// Nothing checks the copies: they are as valid as their templates. The package must not
// know what they are for.
package fill
