module github.com/ingotmetal/ingot/bench

go 1.26

replace github.com/ingotmetal/ingot => ../
