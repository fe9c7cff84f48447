package manifest

import (
	"fmt"
	"maps"
	"reflect"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
	"github.com/workload-resizer/workload-resizer/test/footprint"
)

const podSpec = `{containers: [{name: app, image: a, resources: {requests: {cpu: 1}}}]}`

// of returns the YAML of an object with a spec.
func of(apiVersion, kind, spec string) string {
	return fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata: {name: web, namespace: shop}\nspec: %s\n", apiVersion, kind, spec)
}

func mustRead(t *testing.T, text string) *Manifest {
	t.Helper()
	m, err := Read([]byte(text), "ReplicaSet")
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestManifest(t *testing.T) {
	t.Run("sets the controller that pods would have in a cluster", setsTheControllerThatPodsWouldHaveInACluster)
	t.Run("adds a controller and a warning to a pod without a controller", addsAControllerAndAWarningToAPodWithoutAController)
	t.Run("defaults a missing request to the limit", defaultsAMissingRequestToTheLimit)
	t.Run("reads objects in any form, in order", readsObjectsInAnyFormInOrder)
	t.Run("reports errors with their location", reportsErrorsWithTheirLocation)
	t.Run("keeps long labels and omits invalid annotation keys", keepsLongLabelsAndOmitsInvalidAnnotationKeys)
	t.Run("knows every field that holds quantities", knowsEveryFieldThatHoldsQuantities)
}

func setsTheControllerThatPodsWouldHaveInACluster(t *testing.T) {
	template := "{template: {metadata: {labels: {app: web}, annotations: {a: b}}, spec: " + podSpec + "}}"
	for _, tc := range []struct{ apiVersion, kind, spec, owner string }{
		{"apps/v1", "Deployment", template, "ReplicaSet"},
		{"apps/v1", "ReplicaSet", template, "ReplicaSet"},
		{"apps/v1", "StatefulSet", template, "StatefulSet"},
		{"apps/v1", "DaemonSet", template, "DaemonSet"},
		{"batch/v1", "Job", template, "Job"},
		{"batch/v1", "CronJob", "{jobTemplate: {spec: " + template + "}}", "Job"},
		{"v1", "ReplicationController", template, "ReplicationController"},
	} {
		t.Run(tc.kind, func(t *testing.T) {
			m := mustRead(t, of(tc.apiVersion, tc.kind, tc.spec))
			if len(m.Objects) != 1 || len(m.Ignored) > 0 {
				t.Fatalf("read %+v", m)
			}
			o := m.Objects[0]
			if owner := o.Pod.Controller().Kind; o.Kind != tc.kind || o.Namespace != "shop" || o.Name != "web" || len(o.Warnings) > 0 || owner != tc.owner {
				t.Errorf("%+v, owner %q", o, owner)
			}
			if o.Pod.Labels().Get("app") != "web" || o.Pod.Annotations().Get("a") != "b" || len(o.Pod.Containers) != 1 || o.Pod.Namespace() != "shop" {
				t.Errorf("pod %+v", o.Pod)
			}
		})
	}
}

func addsAControllerAndAWarningToAPodWithoutAController(t *testing.T) {
	m := mustRead(t, of("v1", "Pod", podSpec))
	if o := m.Objects[0]; o.Pod.Controller().Kind != "ReplicaSet" || len(o.Warnings) != 1 || !strings.Contains(o.Warnings[0], "never resized") {
		t.Errorf("%+v", o)
	}
	owned := "apiVersion: v1\nkind: Pod\nmetadata: {generateName: db-, ownerReferences: [{apiVersion: v1, kind: Cluster, name: db, uid: u, controller: true}]}\nspec: " + podSpec
	if o := mustRead(t, owned).Objects[0]; o.Pod.Controller().Kind != "Cluster" || len(o.Warnings) > 0 || o.Name != "db-" {
		t.Errorf("%+v", o)
	}
}

func defaultsAMissingRequestToTheLimit(t *testing.T) {
	m := mustRead(t, of("v1", "Pod", `{initContainers: [{name: i, resources: {limits: {memory: 1Gi}}}], containers: [{name: app, resources: {requests: {cpu: 1}, limits: {cpu: 2, memory: 1Gi}}}, {name: none}]}`))
	const gi = 1 << 30
	for i, want := range []sizing.Container{
		{CPU: sizing.Amount{Request: 1000, Limit: 2000}, Memory: sizing.Amount{Request: gi, Limit: gi}},
		{},
		{Memory: sizing.Amount{Request: gi, Limit: gi}},
	} {
		if got := m.Objects[0].Pod.Containers[i].Spec; got != want {
			t.Errorf("container %d: %v, want %v", i, got, want)
		}
	}
}

func readsObjectsInAnyFormInOrder(t *testing.T) {
	object := func(name string) string {
		return `{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "` + name + `"}, "spec": {"containers": [{"name": "app"}]}}`
	}
	config := `{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}}`
	for _, tc := range []struct{ name, text, want, ignored string }{
		{"YAML documents, including empty ones", "# nothing\n---\n---\n" + object("a") + "\n--- # more\n" + object("b") + "\n---\n", "a b", ""},
		{"passes over objects that create no pods", config + "\n---\n" + object("a") + "\n---\n{apiVersion: example.com/v1, kind: Deployment, metadata: {name: other}}", "a", "ConfigMap settings, Deployment other"},
		{"a sequence of JSON values", object("a") + object("b") + "\n" + config, "a b", "ConfigMap settings"},
		{"a List", `{"apiVersion": "v1", "kind": "List", "items": [` + object("a") + "," + object("b") + "," + config + `]}`, "a b", "ConfigMap settings"},
		{"texts with the characters of aliases", "{apiVersion: v1, kind: ConfigMap, metadata: {name: script}, data: {run: 'sleep 1 & ls *.go'}}", "", "ConfigMap script"},
		{"an empty text", " \n# nothing\n", "", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := mustRead(t, tc.text)
			var names []string
			for _, o := range m.Objects {
				names = append(names, o.Name)
			}
			if got := strings.Join(names, " "); got != tc.want || strings.Join(m.Ignored, ", ") != tc.ignored {
				t.Errorf("%q, ignored %q; want %q, %q", got, m.Ignored, tc.want, tc.ignored)
			}
		})
	}
}

func reportsErrorsWithTheirLocation(t *testing.T) {
	good := of("v1", "Pod", podSpec)
	for _, tc := range []struct{ name, text, want string }{
		{"an unknown field", good + "---\n" + of("v1", "Pod", "{containers: [{name: a, resourcs: {}}]}"), `document 2 (line 5): Pod web: unknown field "spec.containers[0].resourcs"`},
		{"an unknown field in JSON", `{"apiVersion": "v1", "kind": "Pod",` + "\n" + `"spec": {"x": 1}}`, `document 1 (line 1): Pod: unknown field "spec.x"`},
		{"a duplicate key", good + "---\n" + "apiVersion: v1\nkind: Pod\nkind: Pod\n", `document 2 (line 5): yaml: unmarshal errors: line 8: key "kind" already set in map`},
		{"invalid YAML", good + "---\nkind: [\n", "document 2 (line 5): yaml: line 6: "},
		{"a string", "hello", "document 1 (line 1): must be a Kubernetes object"},
		{"no kind", "apiVersion: v1", "document 1 (line 1): must be a Kubernetes object with apiVersion and kind"},
		{"a wrong type", of("v1", "Pod", "{containers: 3}"), "document 1 (line 1): Pod web: "},
		{"an invalid quantity", of("v1", "Pod", "{containers: [{name: a, resources: {requests: {cpu: many}}}]}"), "quantities must match"},
		{"a quantity that takes minutes to parse", of("v1", "Pod", `{containers: [{name: a, resources: {requests: {cpu: "1e99999999"}}}]}`), `cpu: "1e99999999" is not a quantity`},
		{"the same quantity as a JSON number", `{"apiVersion": "v1", "kind": "Pod", "spec": {"overhead": {"cpu": 1e99999999}}}`, `cpu: "1e99999999" is not a quantity`},
		{"no containers", of("v1", "Pod", "{}"), "document 1 (line 1): Pod web: spec.containers must be set"},
		{"a container without a name", of("v1", "Pod", `{containers: [{name: ""}]}`), `spec.containers[0].name: "": a lowercase RFC 1123 label must`},
		{"two containers of the same name", of("v1", "Pod", `{containers: [{name: a}], initContainers: [{name: a}]}`), `spec.initContainers[0].name: duplicate name "a"`},
		{"a negative request", of("v1", "Pod", `{containers: [{name: a, resources: {requests: {cpu: "-1"}}}]}`), "spec.containers[0].resources.requests.cpu: -1 is negative"},
		{"a negative limit", of("v1", "Pod", `{containers: [{name: a, resources: {requests: {memory: 1}, limits: {cpu: "-1"}}}]}`), "cpu: -1 is negative"},
		{"a request above its limit", of("v1", "Pod", `{containers: [{name: a, resources: {requests: {cpu: 3}, limits: {cpu: 2}}}]}`), "spec.containers[0].resources.requests.cpu: 3 exceeds the limit of 2"},
		{"the first of several errors by name", of("v1", "Pod", `{containers: [{name: a, resources: {requests: {memory: -1, cpu: -1}}}]}`), "requests.cpu: -1 is negative"},
		{"a negative pod-level request", of("v1", "Pod", `{containers: [{name: a}], resources: {requests: {cpu: -1}}}`), "spec.resources.requests.cpu: -1 is negative"},
		{"a pod-level request above its limit", of("v1", "Pod", `{containers: [{name: a}], resources: {requests: {cpu: 3}, limits: {cpu: 2}}}`), "spec.resources.requests.cpu: 3 exceeds the limit of 2"},
		{"negative overhead", of("v1", "Pod", `{containers: [{name: a}], overhead: {cpu: -1}}`), "spec.overhead.cpu: -1 is negative"},
		{"an unknown restart policy", of("v1", "Pod", `{containers: [{name: a}], initContainers: [{name: b, restartPolicy: Sometimes}]}`), `spec.initContainers[0].restartPolicy: "Sometimes" is not one of [Always Never OnFailure]`},
		{"an unknown resize policy", of("v1", "Pod", `{containers: [{name: a, resizePolicy: [{resourceName: cpu, restartPolicy: Sometimes}]}]}`), `spec.containers[0].resizePolicy[0].restartPolicy: "Sometimes" is not one of [NotRequired RestartContainer]`},
		{"a List in a List", `{"apiVersion": "v1", "kind": "List", "items": [{"apiVersion": "v1", "kind": "List"}]}`, "document 1 (line 1): items[0]: a List must not contain another List"},
		{"an alias", good + "---\n" + "apiVersion: v1\nkind: Pod\nspec: &a\n  containers: [*a]\n", "document 2 (line 9): YAML aliases are not supported: write out what *a stands for"},
		{"a quantity in a list that takes minutes to parse", `{"apiVersion": "v1", "kind": "Pod", "spec": {"overhead": {"a": [1, {"b": "1e99999999"}]}}}`, `b: "1e99999999" is not a quantity`},
		{"a name of 1 MiB", of("v1", "Pod", `{containers: [{name: `+strings.Repeat("A", 1<<20)+`}]}`), `spec.containers[0].name: "` + strings.Repeat("A", 64) + `": `},
		{"no template", of("v1", "ReplicationController", "{}"), "spec.template must be set"},
		{"an item of a List", `{"apiVersion": "v1", "kind": "List", "items": [{"kind": "Pod"}]}`, "document 1 (line 1): items[0]: must be a Kubernetes object"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := Read([]byte(tc.text), "ReplicaSet")
			if err == nil || !strings.Contains(strings.ReplaceAll(err.Error(), "\n ", ""), tc.want) {
				t.Errorf("got %v, want %s", err, tc.want)
			}
		})
	}
}

// Every field that is decoded as a quantity is checked first.
func knowsEveryFieldThatHoldsQuantities(t *testing.T) {
	quantity := reflect.TypeFor[resource.Quantity]()
	seen := map[reflect.Type]bool{}
	found := 0
	var walk func(typ reflect.Type, field string, known bool)
	walk = func(typ reflect.Type, field string, known bool) {
		switch {
		case typ == quantity:
			if found++; !known {
				t.Errorf("field %s is not known to hold quantities", field)
			}
		case typ.Kind() == reflect.Pointer, typ.Kind() == reflect.Slice, typ.Kind() == reflect.Map:
			walk(typ.Elem(), field, known)
		case typ.Kind() == reflect.Struct && !seen[typ]:
			seen[typ] = true
			for i := range typ.NumField() {
				f := typ.Field(i)
				name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
				walk(f.Type, name, quantityFields[name])
			}
		}
	}
	for _, newMaker := range makers {
		walk(reflect.TypeOf(newMaker()), "", false)
	}
	if found < 8 {
		t.Errorf("only %d fields hold quantities", found)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(of("v1", "Pod", podSpec)))
	f.Add([]byte("--- {}\n{\"kind\": 1}{}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		var m *Manifest
		var err error
		footprint.CheckAllocated(t, len(text), func() { m, err = Read(text, "ReplicaSet") })
		if err != nil {
			return
		}
		for _, o := range m.Objects {
			if !o.Pod.Controller().Exists() {
				t.Errorf("%+v has no controller", o)
			}
		}
	})
}

func keepsLongLabelsAndOmitsInvalidAnnotationKeys(t *testing.T) {
	long := strings.Repeat("x", 400)
	m, err := Read([]byte(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},"spec":{"template":{"metadata":{"labels":{"app":"`+long+`"},"annotations":{"a\u0000b":"1","note":"`+long+`y"}},"spec":{"containers":[{"name":"app","resources":{"requests":{"cpu":"1"}}}]}}}}`), "ReplicaSet")
	if err != nil {
		t.Fatal(err)
	}
	p := m.Objects[0].Pod
	if got := p.Labels().Get("app"); got != long {
		t.Errorf("a long label is %q", got)
	}
	if got := maps.Collect(p.Annotations().All()); !maps.Equal(got, map[string]string{"note": long + "y"}) {
		t.Errorf("annotations are %v", got)
	}
}
