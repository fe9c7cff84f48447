package manifest

import (
	"fmt"
	"maps"
	"reflect"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
	"github.com/workload-resizer/workload-resizer/test/footprint"
)

const podSpec = `{containers: [{name: app, image: a, resources: {requests: {cpu: 1}}}]}`

// of returns the YAML of an object with a spec.
func of(apiVersion, kind, spec string) string {
	return fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata: {name: web, namespace: shop}\nspec: %s\n", apiVersion, kind, spec)
}

// replicaSetsOnly has no kinds besides those of Kubernetes.
var replicaSetsOnly = Options{OwnerKinds: []string{"ReplicaSet"}}

func mustRead(t *testing.T, text string) *Manifest {
	t.Helper()
	m, err := Read([]byte(text), replicaSetsOnly)
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
	t.Run("plans other kinds if they are named", plansOtherKindsIfTheyAreNamed)
	t.Run("shortens definitions and keeps the numbers of lines", shortensDefinitionsAndKeepsTheNumbersOfLines)
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
		{"passes over objects that create no pods", config + "\n---\n" + object("a") + "\n---\n{apiVersion: example.com/v1, kind: Deployment, metadata: {name: other}}", "a other", "ConfigMap settings"},
		{"a sequence of JSON values", object("a") + object("b") + "\n" + config, "a b", "ConfigMap settings"},
		{"a List", `{"apiVersion": "v1", "kind": "List", "items": [` + object("a") + "," + object("b") + "," + config + `]}`, "a b", "ConfigMap settings"},
		{"a list of a kind", `{"apiVersion": "v1", "kind": "PodList", "items": [` + object("a") + `, {"metadata": {"name": "b"}, "spec": {"containers": [{"name": "app"}]}}]}`, "a b", ""},
		{"a kind that ends like a list", "{apiVersion: example.com/v1, kind: AllowList, metadata: {name: x}, items: []}", "", "AllowList x"},
		{"aliases and merged keys", "apiVersion: v1\nkind: Pod\nmetadata: {name: &n a}\nspec:\n  containers:\n  - &c {name: *n, image: x}\n  - <<: *c\n    name: b\n", "a", ""},
		{"a definition with more values than a document may have", "---\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: things.example.com\nx: [" + strings.Repeat("1,", mostValues) + "1]\n---\n" + object("a"), "a", "CustomResourceDefinition things.example.com"},
		{"texts with the characters of aliases", "{apiVersion: v1, kind: ConfigMap, metadata: {name: script}, data: {run: 'sleep 1 & ls *.go'}}", "", "ConfigMap script"},
		{"kinds of Kubernetes that have templates, but create no pods", "{apiVersion: v1, kind: PodTemplate, metadata: {name: a}, template: {spec: " + podSpec + "}}\n---\n{apiVersion: apps/v1, kind: ControllerRevision, metadata: {name: b}, data: {spec: {template: {spec: " + podSpec + "}}}}", "", "PodTemplate a, ControllerRevision b"},
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

func plansOtherKindsIfTheyAreNamed(t *testing.T) {
	template := "{replicas: 1, template: {spec: " + podSpec + "}}"
	named := Options{OwnerKinds: []string{"ReplicaSet", "StatefulSet.apps.kruise.io", "CloneSet"}, WorkloadKinds: []schema.GroupResource{{Group: "argoproj.io", Resource: "rollouts"}, {Group: "example.com", Resource: "gateways"}}, Namespace: "else"}
	for _, tc := range []struct{ name, text, owner, warning string }{
		{"a kind of --workload-kinds", of("argoproj.io/v1alpha1", "Rollout", template), "ReplicaSet.apps", "this plan assumes that a ReplicaSet controls the pods of a Rollout"},
		{"a kind of --owner-kinds", of("apps.kruise.io/v1beta1", "StatefulSet", template), "StatefulSet.apps.kruise.io", ""},
		{"a plain kind of --owner-kinds", of("apps.kruise.io/v1alpha1", "CloneSet", template), "CloneSet.apps.kruise.io", ""},
		{"a kind without a template", of("argoproj.io/v1alpha1", "Rollout", "{workloadRef: {name: web}}"), "", "not planned: this Rollout of apiVersion argoproj.io/v1alpha1 has no spec.template"},
		{"another kind with a template", of("serving.knative.dev/v1", "Service", template), "", "not planned: apiVersion serving.knative.dev/v1, kind Service seems to create pods, but is not known: add services.serving.knative.dev to --workload-kinds"},
		{"another kind with a nested template", of("batch.volcano.sh/v1alpha1", "Job", "{tasks: [{template: {spec: "+podSpec+"}}]}"), "", "not planned: apiVersion batch.volcano.sh/v1alpha1, kind Job"},
		{"a plural that ends in ys", of("example.com/v1", "Gateway", template), "ReplicaSet.apps", "this plan assumes that a ReplicaSet"},
		{"a plural that ends in ies", of("example.com/v1", "Proxy", template), "", "not planned: apiVersion example.com/v1, kind Proxy seems to create pods, but is not known: add proxies.example.com to"},
		{"a plural that ends in es", of("example.com/v1", "Batch", template), "", "not planned: apiVersion example.com/v1, kind Batch seems to create pods, but is not known: add batches.example.com to"},
		{"a workload of another group, without a template", of("example.com/v1", "DaemonSet", "{}"), "", "not planned: apiVersion example.com/v1, kind DaemonSet"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m, err := Read([]byte(tc.text), named)
			if err != nil || len(m.Objects) != 1 || len(m.Ignored) > 0 {
				t.Fatalf("%+v, %v", m, err)
			}
			o, owner := m.Objects[0], ""
			if o.Pod != nil {
				owner = o.Pod.Controller().String()
			}
			if owner != tc.owner || o.Namespace != "shop" || !strings.HasPrefix(strings.Join(o.Warnings, ", "), tc.warning) || len(o.Warnings) > 0 != (tc.warning != "") {
				t.Errorf("%+v, owner %q", o, owner)
			}
		})
	}
	m, err := Read([]byte("{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: "+podSpec+"}"), named)
	if err != nil || m.Objects[0].Namespace != "else" || m.Objects[0].Pod.Namespace() != "else" {
		t.Errorf("a pod without a namespace is %+v, %v", m, err)
	}
}

func shortensDefinitionsAndKeepsTheNumbersOfLines(t *testing.T) {
	const definition = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: things.example.com\nspec: {}\n"
	pod := of("v1", "Pod", podSpec)
	text := definition + "---\n" + pod + "---\n" + definition + "---\nkind: Pod\n"
	short := string(Shorten([]byte(text)))
	if strings.Count(short, "\n") != strings.Count(text, "\n") || strings.Contains(short, "spec: {}") || !strings.Contains(short, pod) {
		t.Errorf("shortened to\n%s", short)
	}
	_, err := Read([]byte(short), replicaSetsOnly)
	if want := "document 4 (line 18): must be a Kubernetes object with apiVersion and kind"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func reportsErrorsWithTheirLocation(t *testing.T) {
	good := of("v1", "Pod", podSpec)
	for _, tc := range []struct{ name, text, want string }{
		{"an unknown field", good + "---\n" + of("v1", "Pod", "{containers: [{name: a, resourcs: {}}]}"), `document 2 (line 9): Pod web: container a: spec.containers[0].resourcs: unknown field`},
		{"an unknown field in JSON", `{"apiVersion": "v1", "kind": "Pod",` + "\n" + `"spec": {"x": 1}}`, `document 1 (line 2): Pod: spec.x: unknown field`},
		{"a duplicate key", good + "---\n" + "apiVersion: v1\nkind: Pod\nkind: Pod\n", `document 2 (line 5): yaml: unmarshal errors: line 8: key "kind" already set in map`},
		{"invalid YAML", good + "---\nkind: [\n", "document 2 (line 5): yaml: line 6: "},
		{"a template", good + "---\n" + of("v1", "Pod", "\n  nodeName: {{ .Values.node }}"), "document 2 (line 5): yaml: invalid map key: if {{ is of a template, plan what helm template makes of it"},
		{"a string of a template before invalid YAML", good + "---\nx: '{{ .x }}'\ny: [\n", "document 2 (line 5): yaml: line 7: did not find expected node content: if {{ is of a template"},
		{"a string", "hello", "document 1 (line 1): must be a Kubernetes object"},
		{"no kind", "apiVersion: v1", "document 1 (line 1): must be a Kubernetes object with apiVersion and kind"},
		{"a wrong type", of("v1", "Pod", "{containers: 3}"), "document 1 (line 4): Pod web: spec.containers: 3 is not a list"},
		{"an invalid quantity", of("v1", "Pod", "{containers: [{name: a, resources: {requests: {cpu: many}}}]}"), `document 1 (line 4): Pod web: container a: spec.containers[0].resources.requests.cpu: "many" is not a quantity, such as 500m or 256Mi`},
		{"a quantity that takes minutes to parse", of("v1", "Pod", `{containers: [{name: a, resources: {requests: {cpu: "1e99999999"}}}]}`), `cpu: "1e99999999" is not a quantity`},
		{"the same quantity as a JSON number", `{"apiVersion": "v1", "kind": "Pod", "spec": {"overhead": {"cpu": 1e99999999}}}`, `cpu: "1e99999999" is not a quantity`},
		{"no containers", of("v1", "Pod", "{}"), "document 1 (line 4): Pod web: spec.containers: must be set"},
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
		{"an alias that contains itself", good + "---\n" + "apiVersion: v1\nkind: Pod\nspec: &a\n  containers: [*a]\n", "document 2 (line 9): *a stands for a value that contains it"},
		{"aliases of too many values", "apiVersion: v1\nkind: X\na: &a [" + strings.Repeat("1,", 1000) + "1]\nb: *a\nc:\n  - *a\n", "document 1 (line 6): the YAML aliases up to *a stand for more than 2000 values or 256 KiB"},
		{"aliases of too much text", "apiVersion: v1\nkind: X\na: &a " + strings.Repeat("x", 200<<10) + "\nb: *a\nc: *a\n", "document 1 (line 5): the YAML aliases up to *a stand"},
		{"a duplicate key next to aliases", "apiVersion: v1\nkind: X\na: &a 1\nb: *a\na: 2\n", `document 1 (line 5): key "a" already set in map`},
		{"a quantity in a List", "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: ConfigMap}\n- apiVersion: apps/v1\n  kind: Deployment\n  metadata: {name: web}\n  spec:\n    template:\n      spec:\n        initContainers:\n        - name: i\n          resources:\n            limits:\n              memory: 1GiB\n",
			`document 1 (line 15): items[1]: Deployment web: container i: spec.template.spec.initContainers[0].resources.limits.memory: "1GiB" is not a quantity`},
		{"a quantity in JSON", "{\"apiVersion\": \"v1\", \"kind\": \"Pod\", \"metadata\": {\"name\": \"a\"},\n\"spec\": {\"containers\": [{\"name\": \"c\", \"resources\": {\"limits\":\n{\"example.com/gpu\": \"x\"}}}]}}",
			`document 1 (line 3): Pod a: container c: spec.containers[0].resources.limits.example.com/gpu: "x" is not a quantity`},
		{"the name of a container that is a number", of("v1", "Pod", "{containers: [{name: 5}]}"), "Pod web: spec.containers[0].name: 5 is not a string"},
		{"a request above its limit in a template", of("apps/v1", "Deployment", "\n  template:\n    spec:\n      containers:\n      - name: a\n        resources: {requests: {cpu: 3}, limits: {cpu: 2}}"),
			"document 1 (line 9): Deployment web: container a: spec.template.spec.containers[0].resources.requests.cpu: 3 exceeds the limit of 2"},
		{"a request above its limit in a CronJob", of("batch/v1", "CronJob", "{jobTemplate: {spec: {template: {spec: {containers: [{name: a, resources: {requests: {cpu: 3}, limits: {cpu: 2}}}]}}}}}"),
			"container a: spec.jobTemplate.spec.template.spec.containers[0].resources.requests.cpu: 3 exceeds"},
		{"a Deployment of another group", good + "---\n" + of("v1", "Deployment", "{}"), `document 2 (line 6): Deployment web: apiVersion: "v1" has no kind Deployment that can be planned: use apps/v1`},
		{"an old version", of("batch/v1beta1", "CronJob", "{}"), `CronJob web: apiVersion: "batch/v1beta1" has no kind CronJob that can be planned: use batch/v1`},
		{"another case", of("apps/v1", "deployment", "{}"), `document 1 (line 2): deployment web: kind: "deployment" is not known: use Deployment`},
		{"an unknown kind of a group of Kubernetes", of("apps/v1", "Deploymnet", "{template: {spec: "+podSpec+"}}"), `document 1 (line 2): Deploymnet web: kind: "Deploymnet" is not known: use one of CronJob, DaemonSet, Deployment,`},
		{"no version", of("a/b/c", "Deployment", "{}"), `apiVersion: "a/b/c" is not GROUP/VERSION`},
		{"no name", "apiVersion: v1\nkind: Pod\nmetadata:\n  labels: {}\nspec: " + podSpec, "document 1 (line 3): Pod: metadata.name: must be set"},
		{"a quantity in a list that takes minutes to parse", `{"apiVersion": "v1", "kind": "Pod", "spec": {"overhead": {"a": [1, {"b": "1e99999999"}]}}}`, `b: "1e99999999" is not a quantity`},
		{"a name of 1 MiB", of("v1", "Pod", `{containers: [{name: `+strings.Repeat("A", 1<<20)+`}]}`), `spec.containers[0].name: "` + strings.Repeat("A", 64) + `": `},
		{"no template", of("v1", "ReplicationController", "{}"), "spec.template: must be set"},
		{"an item of a List", `{"apiVersion": "v1", "kind": "List", "items": [{"kind": "Pod"}]}`, "document 1 (line 1): items[0]: must be a Kubernetes object"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := Read([]byte(tc.text), replicaSetsOnly)
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
	walk(reflect.TypeFor[custom](), "", false)
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
		footprint.CheckAllocated(t, len(text), func() { m, err = Read(text, replicaSetsOnly) })
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
	m, err := Read([]byte(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},"spec":{"template":{"metadata":{"labels":{"app":"`+long+`"},"annotations":{"a\u0000b":"1","note":"`+long+`y"}},"spec":{"containers":[{"name":"app","resources":{"requests":{"cpu":"1"}}}]}}}}`), replicaSetsOnly)
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
