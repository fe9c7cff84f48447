package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/deploy"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
	"github.com/workload-resizer/workload-resizer/usage/checkpoint"
)

// serverUser is the user name of the Deployment's servers.
const serverUser = "system:serviceaccount:" + deploy.Namespace + ":" + deploy.ServiceAccount

// auditPolicy returns a file with a policy that logs the requests of the servers.
func auditPolicy(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "audit.json")
	policy := fmt.Sprintf(`{"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": ["RequestReceived"], "rules": [{"level": "Metadata", "users": [%q]}, {"level": "None"}]}`, serverUser)
	if err := os.WriteFile(path, []byte(policy), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// right is one permission. An empty name or namespace stands for all of them.
type right struct{ verb, group, resource, name, namespace string }

func (r right) String() string {
	return fmt.Sprintf("%s %s %s in %s", r.verb, strings.TrimSuffix(r.resource+"."+r.group, "."), either(r.name, "of any name"), either(r.namespace, "all namespaces"))
}

func either(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// covers reports whether a right allows a request.
func (r right) covers(asked right) bool {
	return r.verb == asked.verb && r.group == asked.group && r.resource == asked.resource &&
		(r.name == "" || r.name == asked.name) && (r.namespace == "" || r.namespace == asked.namespace)
}

// shared returns a right that the ConfigMaps with samples, those with history of usage, or those with the journal have in
// common. Which of them a journey reads or writes is left to chance, or depends on their size.
func (r right) shared() right {
	for _, prefix := range []string{contract.DefaultNames.SamplesPrefix, contract.DefaultNames.UsagePrefix, contract.DefaultNames.JournalPrefix} {
		if strings.HasPrefix(r.name, prefix) {
			r.name = prefix
		}
	}
	return r
}

// elsewhere has rights that no journey uses, and why.
var elsewhere = map[right]string{
	{"delete", "", "configmaps", contract.DefaultNames.UsagePrefix, deploy.Namespace}:   "history must have shrunk to an eighth; the tests of usage/checkpoint do so on an API server",
	{"get", "", "configmaps", contract.DefaultNames.JournalPrefix, deploy.Namespace}:    "another replica must have written the same part of the journal a moment ago",
	{"get", "", "configmaps", contract.DefaultNames.ProductionRatios, deploy.Namespace}: "another leader must have written the suggestions a moment ago; the tests of internal/document do so on an API server",
}

// listsInPages starts a server that reads lists in pages, as it must with an API server
// that is older than WatchList. With WatchList, lists are watches, and nothing is listed.
//
// It also stores history where there is none: earlier servers may have been stopped while they did, and then the audit
// log does not show that they created anything.
func (c *cluster) listsInPages(t *testing.T) {
	stored, first := c.client.CoreV1().ConfigMaps(deploy.Namespace), checkpoint.Names(contract.DefaultNames.UsagePrefix)[0]
	if err := stored.Delete(t.Context(), first, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
		t.Fatal(err)
	}
	s := c.start(t, localcluster.ServerOptions{Env: []string{"KUBE_FEATURE_WatchListClient=false"}, Args: quickLease}).ready(t)
	c.awaitSettled(t, s, ns)
	localcluster.Eventually(t, "the server to store history", func() error {
		_, err := stored.Get(t.Context(), first, metav1.GetOptions{})
		return err
	})
	if err := s.Stop(); err != nil {
		t.Errorf("stop: %v", err)
	}
}

// rightsUsed compares the rights of the servers with their requests in all previous
// journeys.
func (c *cluster) rightsUsed(t *testing.T) {
	allowed, forbidden := c.audited(t)
	granted := c.granted(t)
	for what, uri := range forbidden {
		// A starting API server forbids everything until it has read the roles.
		if !slices.ContainsFunc(granted, func(r right) bool { return r.covers(what) }) {
			t.Errorf("the server was not allowed to %v: %s", what, uri)
		}
	}
	for what, uri := range allowed {
		if !slices.ContainsFunc(granted, func(r right) bool { return r.covers(what) }) {
			t.Errorf("the server was allowed to %v, but none of its roles grants that: %s", what, uri)
		}
	}
	for _, r := range granted {
		if _, ok := elsewhere[r.shared()]; ok {
			continue
		}
		used := func(asked right) bool { return r.shared().covers(asked.shared()) }
		if !slices.ContainsFunc(slices.Collect(maps.Keys(allowed)), used) {
			t.Errorf("the server never used the right to %v: remove it from deploy/base/rbac.yaml, or add a journey that needs it", r)
		}
	}
}

// granted returns the rights that the bindings give to the server.
func (c *cluster) granted(t *testing.T) []right {
	t.Helper()
	isServer := func(s rbacv1.Subject) bool {
		return s.Kind == rbacv1.ServiceAccountKind && s.Namespace == deploy.Namespace && s.Name == deploy.ServiceAccount
	}
	rbac := c.client.RbacV1()
	var all []right
	everywhere, err := rbac.ClusterRoleBindings().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, binding := range everywhere.Items {
		if slices.ContainsFunc(binding.Subjects, isServer) {
			all = append(all, c.rules(t, binding.RoleRef, "")...)
		}
	}
	somewhere, err := rbac.RoleBindings("").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, binding := range somewhere.Items {
		if slices.ContainsFunc(binding.Subjects, isServer) {
			all = append(all, c.rules(t, binding.RoleRef, binding.Namespace)...)
		}
	}
	if len(all) == 0 {
		t.Fatal("no binding gives the server any rights")
	}
	return all
}

// rules returns the rights of a role, one for each combination.
func (c *cluster) rules(t *testing.T, ref rbacv1.RoleRef, namespace string) []right {
	t.Helper()
	var rules []rbacv1.PolicyRule
	var err error
	if ref.Kind == "ClusterRole" {
		role, notFound := c.client.RbacV1().ClusterRoles().Get(t.Context(), ref.Name, metav1.GetOptions{})
		rules, err = role.Rules, notFound
	} else {
		role, notFound := c.client.RbacV1().Roles(namespace).Get(t.Context(), ref.Name, metav1.GetOptions{})
		rules, err = role.Rules, notFound
	}
	if err != nil {
		t.Fatal(err)
	}
	var all []right
	for _, rule := range rules {
		names := rule.ResourceNames
		if len(names) == 0 {
			names = []string{""}
		}
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					for _, name := range names {
						all = append(all, right{verb, group, resource, name, namespace})
					}
				}
			}
		}
	}
	return all
}

// audited returns what the servers were allowed to do and what was forbidden, from the
// audit log, each with one of the requests. Allowed requests that are not for resources,
// such as API discovery, are omitted: every user may send them.
func (c *cluster) audited(t *testing.T) (allowed, forbidden map[right]string) {
	t.Helper()
	file, err := os.Open(c.LogFile("audit"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	allowed, forbidden = map[right]string{}, map[right]string{}
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		var event struct {
			Verb, RequestURI string
			ObjectRef        struct{ APIGroup, Resource, Subresource, Name, Namespace string }
			ResponseStatus   struct{ Code int }
			Annotations      map[string]string
		}
		if err := json.Unmarshal(lines.Bytes(), &event); err != nil {
			t.Fatalf("%v in %s", err, lines.Text())
		}
		ref := event.ObjectRef
		what := right{event.Verb, ref.APIGroup, strings.TrimSuffix(ref.Resource+"/"+ref.Subresource, "/"), ref.Name, ref.Namespace}
		switch event.Annotations["authorization.k8s.io/decision"] {
		case "forbid":
			forbidden[what] = event.RequestURI
		case "allow":
			if ref.Resource != "" {
				allowed[what] = event.RequestURI
			}
			if event.ResponseStatus.Code == http.StatusCreated && what.verb == "patch" {
				// A patch that creates its object also needs the right to create it.
				what.verb = "create"
				allowed[what] = event.RequestURI
			}
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	if len(allowed) == 0 {
		t.Fatal("the audit log has no requests of the server")
	}
	return allowed, forbidden
}
