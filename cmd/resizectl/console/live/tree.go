package live

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Tree returns the one element that HTML describes as JSON: [tag, attributes, children], where a child is an element or text.
func Tree(text string) ([]byte, error) {
	nodes, err := html.ParseFragment(strings.NewReader(text), &html.Node{Type: html.ElementNode, Data: "div", DataAtom: atom.Div})
	if err != nil {
		return nil, fmt.Errorf("parse a part of a page: %w", err)
	}
	for _, n := range nodes {
		if n.Type == html.ElementNode {
			return json.Marshal(value(n))
		}
	}
	return nil, errors.New("parse a part of a page: it has no element")
}

// value returns an element or text.
func value(n *html.Node) any {
	if n.Type == html.TextNode {
		return n.Data
	}
	attributes, children := map[string]string{}, []any{}
	for _, a := range n.Attr {
		attributes[a.Key] = a.Val
	}
	for child := range n.ChildNodes() {
		if child.Type == html.ElementNode || child.Type == html.TextNode {
			children = append(children, value(child))
		}
	}
	return []any{n.Data, attributes, children}
}
