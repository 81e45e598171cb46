package api

import "github.com/ingotmetal/ingot/identity/keys"

// Nodes.
var (
	NodeListing = Op[NodeList, Nodes]{read("node.list", "/v1/nodes", keys.NodesRead,
		"List nodes in the order of their IDs")}
	NodeShow = Op[NodeRef, Node]{read("node.show", "/v1/nodes/{node_id}", keys.NodesRead,
		"Show a node, all its axes")}
	NodeDelete = Op[NodeChange, Deleted]{destroy("node.delete", "/v1/nodes/{node_id}", keys.NodesDelete,
		"Make a node a tombstone").via("DELETE")}
	NodeCordon = Op[NodeChange, NodeChanged]{write("node.cordon", "/v1/nodes/{node_id}/cordon", keys.NodesCordon,
		"Keep new work away from a node")}
	NodeUncordon = Op[NodeChange, NodeChanged]{write("node.uncordon", "/v1/nodes/{node_id}/uncordon", keys.NodesCordon,
		"Let new work come to a node again; ends a drain")}
	NodeMaintenance = Op[Maintain, NodeChanged]{write("node.maintenance", "/v1/nodes/{node_id}/maintenance", keys.NodesUpdate,
		"Set or clear maintenance, with a reason")}
)

func nodes() []Any {
	return []Any{NodeListing, NodeShow, NodeDelete, NodeCordon, NodeUncordon, NodeMaintenance}
}

// The log: as events, and as the audit chain; and the store as a whole.
var (
	EventListing = Op[EventList, EventPage]{read("event.list", "/v1/events", keys.EventsRead,
		"List events, oldest first")}
	EventFollow = Raw[EventStream]{read("event.stream", "/v1/events/stream", keys.EventsRead,
		"Follow events as they happen").streams(Events)}
	AuditHeadShow = Op[Empty, AuditHead]{read("audit.head", "/v1/audit/head", keys.AuditRead,
		"Show the end of the audit chain")}
	AuditRowsRead = Raw[AuditRows]{read("audit.rows", "/v1/audit/rows", keys.AuditRead,
		"Read the rows of the audit chain, to verify it offline").streams(Bytes)}
	StoreBackup = Raw[Empty]{read("store.backup", "/v1/store/backup", "",
		"Copy the store as it stands, secrets sealed").by(Host).streams(Bytes)}
)

func logs() []Any {
	return []Any{EventListing, EventFollow, AuditHeadShow, AuditRowsRead, StoreBackup}
}
