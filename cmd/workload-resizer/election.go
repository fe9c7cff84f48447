package main

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/kubernetes"

	"github.com/workload-resizer/workload-resizer/reconciler/leader"
)

// electionOptions are the flags about which of several replicas writes.
type electionOptions struct {
	elect         bool
	leaseName     string
	leaseDuration time.Duration
	renewDeadline time.Duration
	retryPeriod   time.Duration
}

func (o *electionOptions) addTo(flags *pflag.FlagSet) {
	flags.BoolVar(&o.elect, "leader-elect", true, "elect the one of several replicas that resizes; with false, this has to be the only one")
	flags.StringVar(&o.leaseName, "lease-name", "workload-resizer", "name of the Lease by which the leader is elected, in the namespace of the ConfigMaps")
	flags.DurationVar(&o.leaseDuration, "leader-lease-duration", 15*time.Second, "how long the others wait for a leader that says nothing, in whole seconds")
	flags.DurationVar(&o.renewDeadline, "leader-renew-deadline", 10*time.Second, "how long a leader that cannot renew its Lease tries before it stops leading")
	flags.DurationVar(&o.retryPeriod, "leader-retry-period", time.Second, "the longest time between two looks at the Lease")
}

func (o *electionOptions) validate(reject func(flag, format string, args ...any)) {
	if problems := validation.IsDNS1123Subdomain(o.leaseName); len(problems) > 0 {
		reject("lease-name", "%q is no name of a Lease: %s", o.leaseName, problems[0])
	}
	if o.leaseDuration < time.Second || o.leaseDuration%time.Second != 0 {
		reject("leader-lease-duration", "must be whole seconds, at least one, not %v", o.leaseDuration)
	}
	if o.renewDeadline >= o.leaseDuration {
		reject("leader-renew-deadline", "must be less than --leader-lease-duration, not %v", o.renewDeadline)
	}
	if o.retryPeriod <= 0 || o.retryPeriod >= o.renewDeadline {
		reject("leader-retry-period", "must be above 0 and less than --leader-renew-deadline, not %v", o.retryPeriod)
	}
}

// newElector returns what elects the leader, nil if there is nothing to elect: a
// dry run writes nothing, in every replica.
func newElector(o *options, client kubernetes.Interface, replica string) (*leader.Elector, error) {
	if !o.election.elect || o.dryRun {
		return nil, nil
	}
	return leader.New(leader.Config{
		Client: client.CoordinationV1(), Namespace: o.configNamespace, Name: o.election.leaseName, Identity: replica,
		LeaseDuration: o.election.leaseDuration, RenewDeadline: o.election.renewDeadline, RetryPeriod: o.election.retryPeriod,
	})
}

// newReplicaName returns a name that no other process has, nor this one after a
// restart.
func newReplicaName() (string, error) {
	host, err := os.Hostname()
	if err != nil {
		return "", fmt.Errorf("name this replica: %w", err)
	}
	return host + "_" + string(uuid.NewUUID()), nil
}
