package monitoring

import (
	"encoding/json"
	"strings"
	"testing"
)

// dashboard has the parts of a Grafana dashboard that the tests check.
type dashboard struct {
	UID           string  `json:"uid"`
	Title         string  `json:"title"`
	SchemaVersion int     `json:"schemaVersion"`
	Panels        []panel `json:"panels"`
	Templating    struct {
		List []struct {
			Type string `json:"type"`
			Name string `json:"name"`
		} `json:"list"`
	} `json:"templating"`
	Annotations struct {
		List []target `json:"list"`
	} `json:"annotations"`
}

type panel struct {
	ID          int                      `json:"id"`
	Type        string                   `json:"type"`
	Title       string                   `json:"title"`
	Description string                   `json:"description"`
	Grid        struct{ H, W, X, Y int } `json:"gridPos"`
	Targets     []target                 `json:"targets"`
}

type target struct {
	Expr       string            `json:"expr"`
	Datasource map[string]string `json:"datasource"`
}

func readDashboard(t *testing.T) dashboard {
	t.Helper()
	_, content := file(t, "deploy", "monitoring", "dashboard.json")
	var d dashboard
	if err := json.Unmarshal(content, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// queries returns the queries of the dashboard, with values for Grafana's variables.
func (d *dashboard) queries() []string {
	values := strings.NewReplacer("$__rate_interval", "1m", "$__range", "1h", "$job", ".+")
	var all []string
	for _, p := range d.Panels {
		for _, t := range p.Targets {
			all = append(all, values.Replace(t.Expr))
		}
	}
	for _, t := range d.Annotations.List {
		all = append(all, values.Replace(t.Expr))
	}
	return all
}

func TestDashboard(t *testing.T) {
	t.Run("the dashboard has a valid layout and uses the chosen data source", theDashboardHasAValidLayoutAndUsesTheChosenDataSource)
}

func theDashboardHasAValidLayoutAndUsesTheChosenDataSource(t *testing.T) {
	d := readDashboard(t)
	if d.UID != "workload-resizer" || d.Title == "" || d.SchemaVersion < 39 {
		t.Errorf("uid %q, title %q, schema version %d", d.UID, d.Title, d.SchemaVersion)
	}
	variables := map[string]string{}
	for _, v := range d.Templating.List {
		variables[v.Name] = v.Type
	}
	if variables["datasource"] != "datasource" || variables["job"] != "query" {
		t.Errorf("got the variables %v", variables)
	}
	type cell struct{ x, y int }
	taken, ids := map[cell]string{}, map[int]string{}
	for _, p := range d.Panels {
		if other, ok := ids[p.ID]; ok {
			t.Errorf("%s and %s have the id %d", p.Title, other, p.ID)
		}
		ids[p.ID] = p.Title
		if p.Grid.W < 1 || p.Grid.H < 1 || p.Grid.X+p.Grid.W > 24 {
			t.Errorf("%s is at %+v", p.Title, p.Grid)
		}
		for x := p.Grid.X; x < p.Grid.X+p.Grid.W; x++ {
			for y := p.Grid.Y; y < p.Grid.Y+p.Grid.H; y++ {
				if other, ok := taken[cell{x, y}]; ok {
					t.Fatalf("%s overlaps %s", p.Title, other)
				}
				taken[cell{x, y}] = p.Title
			}
		}
		if p.Type == "row" {
			continue
		}
		if p.Title == "" || p.Description == "" || len(p.Targets) == 0 {
			t.Errorf("panel %d lacks a title, a description or a query: %+v", p.ID, p)
		}
		for _, target := range p.Targets {
			if target.Datasource["uid"] != "${datasource}" {
				t.Errorf("%s uses the data source %v", p.Title, target.Datasource)
			}
		}
	}
}
