package browser

import (
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/deploy"
)

// rights shows the console to people who may see little.
func (w *world) rights(t *testing.T) {
	// There is a second namespace, whose pods the member of a team may see.
	w.apply(t, []byte(team))
	nobody, member := w.person(t, "nobody", ""), w.person(t, "member", "workload-resizer-viewer")
	if _, err := w.client.RbacV1().RoleBindings("team").Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "member"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "view"},
		Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: deploy.Namespace, Name: "member"}},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	chrome := start(t)
	t.Run("nobody", func(t *testing.T) {
		c := run(t, w.as(nobody)...)
		b := c.in(&chromium{chrome.Context})
		for _, page := range []struct {
			path string
			// lacks are the rights that the page names, in its order.
			lacks string
		}{
			{"/", "get status, list plans, list holds, list recommendations, list recommendations, list resizes"},
			{"/workloads", "list plans"},
			{"/workloads/" + namespace + "/Deployment/web", "list plans, list holds, list plans, list recommendations, list resizes, get recommendations"},
			{"/pods/" + namespace + "/" + w.pod(t), "get plans"},
			{"/nodes", "get status, list ratios"},
			{"/nodes/n4-0", "get status, list plans"},
			{"/plans?plan=1", "list plans"},
			{"/history", "list resizes"},
			{"/setup", "get status, list ratios, get usagesources, list feeds, list suggestions"},
			{"/search?q=web", "list plans, get status"},
		} {
			path := page.path
			b.visit(c.base + path)
			b.until(path+" to say that "+page.lacks+" is missing, and who can allow it", lacking+" === "+quote(page.lacks))
			if !js[bool](b, `document.querySelectorAll("nav a").length === 6 && document.querySelectorAll("#main :is(tbody tr, .entries li, .notes li, .good, figure)").length === 0`) {
				t.Errorf("%s shows somebody without rights:\n%s", path, js[string](b, "document.body.innerText"))
			}
			b.accessible(path)
			b.picture("nobody " + path)
			b.clean(path)
		}
	})
	t.Run("a member of a team", func(t *testing.T) {
		c := run(t, w.as(member)...)
		b := c.in(&chromium{chrome.Context})
		b.visit(c.base + "/workloads")
		b.until("the workload of the team", `document.querySelector("tbody")?.textContent.includes("deployment/tool")`)
		if got := js[int](b, `document.querySelectorAll("tbody tr").length`); got != 1 {
			t.Errorf("a member sees %d workloads, want that of the team", got)
		}
		for _, path := range []string{"/", "/history", "/setup", "/search?q=web", "/plans?plan=1", "/nodes/n4-0"} {
			b.visit(c.base + path)
			b.until(path, `!document.body.innerText.includes("Waiting for the server")`)
			if js[bool](b, `[...document.querySelectorAll("#main *")].some((e) => e.childElementCount === 0 && (e.textContent.trim() === `+quote(namespace)+` || e.textContent.includes(`+quote(namespace+"/")+`)))`) {
				t.Errorf("%s shows another namespace:\n%s", path, js[string](b, `document.getElementById("main").innerText`))
			}
			b.picture("member " + path)
			b.clean(path)
		}
	})
}

// lacking is a script that returns which rights a page says are missing, if it says in each case what allows it.
const lacking = `[...document.querySelectorAll("#main .problem")].map((e) => e.innerText.match(/ cannot (\w+ \w+)\.workload-resizer\.io in .*; a (Cluster)?RoleBinding .*to the ClusterRole workload-resizer-viewer allows it/)?.[1] ?? e.innerText).join(", ")`

const team = `
apiVersion: v1
kind: Namespace
metadata: {name: team}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: tool, namespace: team}
spec:
  selector: {matchLabels: {app: tool}}
  template:
    metadata: {labels: {app: tool}}
    spec:
      containers: [{name: tool, image: none, resources: {requests: {cpu: 100m, memory: 64Mi}}}]
`
