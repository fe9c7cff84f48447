package export

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
)

// shapes are documents with a container, and what must become of them. Where want is empty, nothing may change.
var shapes = []struct {
	name, text, want string
	items            []item
}{
	{
		name: "keeps comments, order, quotes and notation",
		text: "# shop\n" + deployment("        resources: # sizes\n          limits:\n            memory: '1024Mi'   # as measured\n            cpu: \"1\"\n          requests: {memory: 0.5Gi, cpu: 0.5}\n        env: [{name: A, value: 'b'}]\n"),
		want: "# shop\n" + deployment("        resources: # sizes\n          limits:\n            memory: '512Mi'   # as measured\n            cpu: \"500m\"\n          requests: {memory: 0.25Gi, cpu: 0.25}\n        env: [{name: A, value: 'b'}]\n"),
	},
	{
		name: "leaves equal quantities as they are written",
		text: deployment("        resources: {requests: {cpu: 0.25, memory: 268435456}, limits: {memory: 2.0Gi}}\n"),
	},
	{
		name: "inserts resources behind the image",
		text: deployment("        # ports\n        ports:\n        - containerPort: 80\n"),
		want: deployment("        resources:\n          requests:\n            cpu: 250m\n            memory: 256Mi\n        # ports\n        ports:\n        - containerPort: 80\n"),
	},
	{
		name: "inserts at the end of a file without a last newline",
		text: strings.TrimSuffix(deployment(""), "\n"),
		want: deployment("        resources:\n          requests:\n            cpu: 250m\n            memory: 256Mi"),
	},
	{
		name: "fills in empty resources",
		text: deployment("        resources: {}\n        # We recommend not to set any.\n"),
		want: deployment("        resources: {requests: {cpu: 250m, memory: 256Mi}}\n        # We recommend not to set any.\n"),
	},
	{
		name: "fills in resources without a value",
		text: deployment("        resources: # none yet\n        tty: true\n"),
		want: deployment("        resources: # none yet\n          requests:\n            cpu: 250m\n            memory: 256Mi\n        tty: true\n"),
	},
	{
		name: "inserts a missing amount in the quotes of the others",
		text: deployment("        resources:\n          requests:\n            cpu: \"100m\" # few\n          # none\n          limits: {}\n"),
		want: deployment("        resources:\n          requests:\n            cpu: \"250m\" # few\n            memory: \"256Mi\"\n          # none\n          limits: {}\n"),
	},
	{
		name: "keeps Windows line ends and the byte order mark",
		text: "\uFEFF" + strings.ReplaceAll(deployment("        resources:\n          requests:\n            cpu: 1\n"), "\n", "\r\n"),
		want: "\uFEFF" + strings.ReplaceAll(deployment("        resources:\n          requests:\n            cpu: 250m\n            memory: 256Mi\n"), "\n", "\r\n"),
	},
	{
		name: "edits containers in braces",
		text: "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop}, spec: {template: {spec: {containers: [{name: app, image: 'a', tty: true}]}}}} # one line\n",
		want: "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop}, spec: {template: {spec: {containers: [{name: app, image: 'a', resources: {requests: {cpu: 250m, memory: 256Mi}}, tty: true}]}}}} # one line\n",
	},
	{
		name:  "edits JSON",
		text:  "{\n\t\"kind\": \"Deployment\",\n\t\"metadata\": {\"name\": \"web\"},\n\t\"spec\": {\"template\": {\"spec\": {\"containers\": [\n\t\t{\n\t\t\t\"name\": \"app\"\n\t\t},\n\t\t{\"name\": \"log\", \"resources\": {\"requests\": {\"cpu\": 1}}}\n\t]}}}\n}",
		want:  "{\n\t\"kind\": \"Deployment\",\n\t\"metadata\": {\"name\": \"web\"},\n\t\"spec\": {\"template\": {\"spec\": {\"containers\": [\n\t\t{\n\t\t\t\"name\": \"app\",\n\t\t\t\"resources\": {\n\t\t\t\t\"requests\": {\n\t\t\t\t\t\"cpu\": \"250m\",\n\t\t\t\t\t\"memory\": \"256Mi\"\n\t\t\t\t}\n\t\t\t}\n\t\t},\n\t\t{\"name\": \"log\", \"resources\": {\"requests\": {\"cpu\": \"250m\", \"memory\": \"256Mi\"}}}\n\t]}}}\n}",
		items: []item{web(), of("Deployment", "web", "log", "250m", "256Mi")},
	},
	{
		name:  "edits one of several documents, and items of lists",
		text:  "---\nkind: ConfigMap\nmetadata: {name: web}\n---\napiVersion: v1\nkind: List\nitems:\n- apiVersion: batch/v1\n  kind: CronJob\n  metadata: {name: job}\n  spec:\n    jobTemplate:\n      spec:\n        template:\n          spec:\n            initContainers:\n              - resources:\n                    limits: {}\n                    requests:\n                        memory: 1Gi\n                name: app\n...\n",
		want:  "---\nkind: ConfigMap\nmetadata: {name: web}\n---\napiVersion: v1\nkind: List\nitems:\n- apiVersion: batch/v1\n  kind: CronJob\n  metadata: {name: job}\n  spec:\n    jobTemplate:\n      spec:\n        template:\n          spec:\n            initContainers:\n              - resources:\n                    limits: {}\n                    requests:\n                        memory: 256Mi\n                        cpu: 250m\n                name: app\n...\n",
		items: []item{of("CronJob", "job", "app", "250m", "256Mi")},
	},
	{
		name: "leaves anchors elsewhere",
		text: deployment("        env: &env [{name: A}]\n        resources:\n          requests: &unused\n            cpu: &n 1\n            memory: !!str 1Gi\n      - name: two\n        env: *env\n"),
		want: deployment("        env: &env [{name: A}]\n        resources:\n          requests: &unused\n            cpu: &n 250m\n            memory: !!str 256Mi\n      - name: two\n        env: *env\n"),
	},
	{
		name: "keeps Guaranteed pods so",
		text: deployment("        resources:\n          requests: {cpu: 500m, memory: 1Gi}\n          limits: {cpu: 0.5, memory: 1024Mi}\n"),
		want: deployment("        resources:\n          requests: {cpu: 250m, memory: 256Mi}\n          limits: {cpu: 0.25, memory: 256Mi}\n"),
	},
	{
		name: "changes only the limit if the request follows from it",
		text: deployment("        resources:\n          limits: {cpu: 500m, memory: 1Gi}\n"),
		want: deployment("        resources:\n          limits: {cpu: 250m, memory: 256Mi}\n"),
	},
	{
		name:  "leaves what an autoscaler compares with usage",
		text:  deployment("        resources: {requests: {cpu: 1, memory: 1Gi}}\n"),
		want:  deployment("        resources: {requests: {cpu: 1, memory: 256Mi}}\n"),
		items: []item{web().with("cpuWithheldMessage", "HorizontalPodAutoscaler web scales by cpu")},
	},
	{
		name:  "lowers nothing that usage does not show, or not for long enough",
		text:  deployment("        resources: {requests: {cpu: 1, memory: 1Gi}, limits: {cpu: 2}}\n"),
		items: []item{web().with("cpuMayDecrease", false).with("cpuDecreaseMessage", "too little").with("memoryConfidence", 2)},
	},
	{
		name:  "raises amounts that must not be lowered",
		text:  deployment("        resources: {requests: {cpu: 100m, memory: 64Mi}, limits: {memory: 64Mi}}\n"),
		want:  deployment("        resources: {requests: {cpu: 250m, memory: 256Mi}, limits: {memory: 512Mi}}\n"),
		items: []item{web().with("cpuMayDecrease", false).with("memoryMayDecrease", false)},
	},
	{
		name: "changes nothing by less than --min-change",
		text: deployment("        resources: {requests: {cpu: 260m, memory: 250Mi}}\n"),
	},
	{
		name: "keeps tabs, quotes of keys and comments",
		text: deployment("        \"resources\":\n          'requests':\n            \"cpu\":\t1 # a core\n            'memory' : \"1024Mi\"\t# much\n"),
		want: deployment("        \"resources\":\n          'requests':\n            \"cpu\":\t250m # a core\n            'memory' : \"256Mi\"\t# much\n"),
	},
	{
		name: "replaces notations that cannot be kept",
		text: deployment("        resources: {requests: {cpu: 1e0, memory: 1e9}, limits: {memory: 2e9}}\n"),
		want: deployment("        resources: {requests: {cpu: 250m, memory: 256Mi}, limits: {memory: 512Mi}}\n"),
	},
	{
		name: "edits braces over several lines, and tells a comment from an amount",
		text: deployment("        resources: {\n          requests: {  # cpu: 1\n            cpu: 1,\n            memory: 1Gi\n          }\n        }\n"),
		want: deployment("        resources: {\n          requests: {  # cpu: 1\n            cpu: 250m,\n            memory: 256Mi\n          }\n        }\n"),
	},
	{
		name:  "edits init containers and sidecars, and no ephemeral containers",
		text:  deployment("      initContainers:\n      - {name: proxy, image: p, restartPolicy: Always, resources: {requests: {cpu: 1}}}\n      ephemeralContainers:\n      - {name: debug, resources: {requests: {cpu: 1}}}\n"),
		want:  deployment("      initContainers:\n      - {name: proxy, image: p, restartPolicy: Always, resources: {requests: {cpu: 100m}}}\n      ephemeralContainers:\n      - {name: debug, resources: {requests: {cpu: 1}}}\n"),
		items: []item{of("Deployment", "web", "proxy", "100m", ""), of("Deployment", "web", "debug", "100m", "")},
	},
	{
		name:  "counts days of history, not samples",
		text:  deployment("        resources: {requests: {cpu: 1, memory: 1Gi}}\n"),
		want:  deployment("        resources: {requests: {cpu: 250m, memory: 1Gi}}\n"),
		items: []item{web().with("sizeRules", item{}).with("cpuConfidence", 1).with("cpuKnownDuration", "604800s").with("memoryKnownDuration", "601200s")},
	},
	{
		name: "has limits and bounds as the configuration of the pods",
		text: deployment("        resources: {requests: {cpu: 1, memory: 1Gi}, limits: {cpu: 4, memory: 4Gi}}\n"),
		want: deployment("        resources: {requests: {cpu: 300m, memory: 256Mi}, limits: {cpu: 4, memory: 800Mi}}\n"),
		items: []item{knowing(web()).with("peakMemory", "400Mi").with("sizeRules", item{
			"cpuLimit": "keep", "memoryLimit": "peak", "memoryLimitMultiple": 2, "minRequests": item{"cpu": "300m"},
		})},
	},
	{
		name: "lets amounts grow as the configuration of the pods does",
		text: deployment("        resources: {requests: {cpu: 50m, memory: 50Mi}, limits: {memory: 60Mi}}\n"),
		want: deployment("        resources: {requests: {cpu: 200m, memory: 200Mi}, limits: {memory: 240Mi}}\n"),
		items: []item{knowing(web()).with("sizeRules", item{
			"cpuLimit": "follow", "memoryLimit": "multiple", "memoryLimitMultiple": 2, "memoryLimitHeadroom": "250Mi", "maxRequests": item{"cpu": "200m", "memory": "200Mi"}, "maxLimits": item{"memory": "240Mi"},
		})},
	},
	{
		name:  "gives no less than what has proven too small",
		text:  deployment("        resources: {requests: {cpu: 250m, memory: 1Gi}, limits: {memory: 2Gi}}\n"),
		want:  deployment("        resources: {requests: {cpu: 250m, memory: 256Mi}, limits: {memory: 1Gi}}\n"),
		items: []item{web().with("leastLimits", item{"memory": "1Gi"})},
	},
}

func TestEdits(t *testing.T) {
	for _, tc := range shapes {
		t.Run(tc.name, func(t *testing.T) {
			if tc.items == nil {
				tc.items = []item{web()}
			}
			dir := files(t, map[string]string{"web.yaml": tc.text})
			before, from := texts(t, dir), usage(t, tc.items...)
			want := tc.want
			if want == "" {
				want = tc.text
			}
			code, diff, stderr := program.Shell(t.Context(), "export", "-f", dir, "--from", from)
			if wantCode := map[bool]int{true: command.ExitOK, false: command.ExitDifferences}[tc.want == ""]; code != wantCode || (diff == "") != (tc.want == "") {
				t.Errorf("--diff: exit %d, want %d, stdout %q, stderr %q", code, wantCode, diff, stderr)
			}
			if got := texts(t, dir)["web.yaml"]; got != tc.text {
				t.Errorf("--diff has changed the file")
			}
			code, _, stderr = program.Shell(t.Context(), "export", "-f", dir, "--from", from, "--write")
			after := texts(t, dir)
			if code != command.ExitOK || after["web.yaml"] != want {
				t.Errorf("exit %d, stderr %q, text:\n%s\nwant:\n%s", code, stderr, after["web.yaml"], want)
			}
			unharmed(t, before, after)
			if info, err := os.Stat(filepath.Join(dir, "web.yaml")); err != nil || info.Mode().Perm() != 0o640 {
				t.Errorf("the mode is %v, %v", info.Mode(), err)
			}
			if code, diff, _ := program.Shell(t.Context(), "export", "-f", dir, "--from", from); code != command.ExitOK || diff != "" {
				t.Errorf("twice: exit %d, diff\n%s", code, diff)
			}
		})
	}
}
