package main

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/kubernetes"

	"github.com/workload-resizer/workload-resizer/reconciler/leader"
)

// electionOptions are the flags of leader election.
type electionOptions struct {
	elect         bool
	leaseDuration time.Duration
}

func (o *electionOptions) addTo(flags *pflag.FlagSet) {
	flags.BoolVar(&o.elect, "leader-elect", true, "elect a leader, the only replica that resizes; with false, run a single replica")
	flags.DurationVar(&o.leaseDuration, "leader-lease-duration", 15*time.Second, "how long the other replicas wait for a leader that does not renew its Lease, in whole seconds. A leader that cannot renew it for two thirds of that stops leading")
}

func (o *electionOptions) validate(reject func(flag, format string, args ...any)) {
	if o.leaseDuration < leader.MinLeaseDuration || o.leaseDuration%time.Second != 0 {
		reject("leader-lease-duration", "must be whole seconds, at least %v, not %v", leader.MinLeaseDuration, o.leaseDuration)
	}
}

// newElector returns the leader elector, or nil if there is nothing to elect: in a dry
// run, no replica writes.
func newElector(o *options, client kubernetes.Interface, replica string) (*leader.Elector, error) {
	if !o.election.elect || o.dryRun {
		return nil, nil
	}
	return leader.New(leader.Config{
		Client: client.CoordinationV1(), Namespace: o.configNamespace, Name: o.names().Lease, Identity: replica, LeaseDuration: o.election.leaseDuration,
	})
}

// newReplicaName returns a name that is unique to this process, even across restarts.
func newReplicaName() (string, error) {
	host, err := os.Hostname()
	if err != nil {
		return "", fmt.Errorf("get the host name for the name of this replica: %w", err)
	}
	return host + "_" + string(uuid.NewUUID()), nil
}
