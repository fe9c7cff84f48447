package owners

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
)

// DefaultResources are the workload resources of Kubernetes itself.
var DefaultResources = []string{
	"replicasets.apps", "deployments.apps", "statefulsets.apps", "daemonsets.apps", "jobs.batch", "cronjobs.batch", "replicationcontrollers",
}

// unread has the resources that are never read, with the reason.
var unread = map[schema.GroupResource]string{
	{Resource: "secrets"}:    "Secrets control no pods and are never read",
	{Resource: "configmaps"}: "ConfigMaps control no pods and are never read",
	{Resource: "pods"}:       "pods do not control other pods",
}

// ParseResources parses resources as RBAC and kubectl name them, e.g.
// "rollouts.argoproj.io": the plural, and the group unless it is the core group. The error
// lists all faults.
func ParseResources(names []string) ([]schema.GroupResource, error) {
	var all []schema.GroupResource
	var errs []error
	for _, name := range names {
		resource := schema.ParseGroupResource(name)
		err := checkResource(resource)
		if err == nil && slices.Contains(all, resource) {
			err = errors.New("named twice")
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%q: %w", name, err))
			continue
		}
		all = append(all, resource)
	}
	return all, errors.Join(errs...)
}

func checkResource(r schema.GroupResource) error {
	if why, ok := unread[r]; ok {
		return errors.New(why)
	}
	if len(validation.IsDNS1035Label(r.Resource)) > 0 {
		return errors.New("must be the lowercase plural of a kind, followed by its API group, such as rollouts.argoproj.io")
	}
	if r.Group == "" {
		for _, known := range DefaultResources {
			if strings.HasPrefix(known, r.Resource+".") {
				return fmt.Errorf("the API group is missing: use %s", known)
			}
		}
		return nil
	}
	if version, group, ok := strings.Cut(r.Group, "."); ok && isVersion(version) {
		return fmt.Errorf("must not have a version, which is discovered: use %s.%s", r.Resource, group)
	}
	if len(validation.IsDNS1123Subdomain(r.Group)) > 0 {
		return fmt.Errorf("%q is not an API group", r.Group)
	}
	return nil
}

// isVersion reports whether a string starts like an API version, such as v1 or v1beta2.
func isVersion(s string) bool {
	return len(s) > 1 && s[0] == 'v' && '0' <= s[1] && s[1] <= '9'
}
